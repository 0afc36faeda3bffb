"""Tiny detectors, fitted once: enough to score, far too little to be good."""

import numpy as np
import pytest

from dissensus import BayesianVAE

QUICK = {
    "epochs": 4,
    "draws": 4,
    "samples": 4,
    "widths": (8,),
    "latent_size": 2,
    "batch_size": 16,
    "false_alarm_rate": 0.2,
    "device": "cpu",
}


@pytest.fixture(scope="session")
def quick():
    """Makes an unfitted detector that is fitted in a moment."""
    return lambda **changes: BayesianVAE(**{**QUICK, **changes})


@pytest.fixture(scope="session")
def rows():
    return np.random.default_rng(0).normal(size=(100, 4)) * [1, 10, 0.1, 1] + [0, 5, 0, 100]


@pytest.fixture(scope="session")
def pictures():
    """Grey squares of 10×12, uint8, bright on the left."""
    rng = np.random.default_rng(1)
    return (rng.integers(0, 120, (80, 10, 12)) + np.linspace(130, 0, 12)).astype(np.uint8)


@pytest.fixture(scope="session")
def inputs(rows, pictures):
    return {"rows": rows, "pictures": pictures}


@pytest.fixture(scope="session")
def row_gate(quick, rows):
    return quick().fit(rows)


@pytest.fixture(scope="session")
def picture_gate(quick, pictures):
    return quick().fit(pictures)


@pytest.fixture(scope="session")
def fitted(quick, inputs, tmp_path_factory):
    """Fitted detectors by kind of input and settings, each made once; draws do not depend on the score."""
    made, checkpoints = {}, tmp_path_factory.mktemp("checkpoints")

    def find(kind, **changes):
        key = (kind, *sorted(changes.items()))
        if key not in made:
            drawn_with = {name: value for name, value in changes.items() if name != "statistic"}
            checkpoint = checkpoints / f"{kind} {sorted(drawn_with.items())}"
            made[key] = quick(**changes).fit(inputs[kind], checkpoint=checkpoint)
        return made[key]

    return find
