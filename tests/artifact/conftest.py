import numpy as np
import pytest

from dissensus import BayesianVAE


@pytest.fixture(scope="session")
def rows():
    return np.random.default_rng(0).normal(size=(60, 3))


@pytest.fixture(scope="session")
def gate(rows):
    """As small as one can be that has every part: a fitted score, a standardiser, draws sharing encoders."""
    settings = {"epochs": 2, "draws": 4, "samples": 2, "widths": (2,), "latent_size": 1}
    return BayesianVAE(**settings, statistic="typicality", false_alarm_rate=0.2, device="cpu").fit(rows)


@pytest.fixture
def saved(gate, tmp_path):
    gate.save(tmp_path / "gate")
    return tmp_path / "gate"
