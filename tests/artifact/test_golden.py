"""Detectors saved by earlier versions (``tests/golden/make_gates.py``) load and score as they did."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from dissensus import BayesianVAE

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture(scope="module")
def made():
    spec = importlib.util.spec_from_file_location("make_gates", GOLDEN / "make_gates.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("version", sorted(path.name for path in GOLDEN.glob("gate-v*")))
@pytest.mark.parametrize("kind", ["pictures", "rows"])
def test_an_old_detector_scores_as_it_did(made, version, kind):
    gate = BayesianVAE.load(GOLDEN / version / kind, device="cpu")
    expected = json.loads((GOLDEN / version / f"{kind}-expected.json").read_text("utf-8"))
    inputs = made.inputs(kind)[: made.ASKED]
    matrix = gate.log_likelihoods(inputs).values
    np.testing.assert_allclose(matrix, expected["log_likelihoods"], rtol=1e-5)
    # Scores are differences of log-likelihoods: what those may move by, they may.
    movement = 1e-5 * np.abs(matrix).max()
    np.testing.assert_allclose(gate.score_samples(inputs), expected["scores"], rtol=1e-5, atol=movement)
    assert np.abs(gate.p_values(inputs) - expected["p_values"]).max() <= 1 / (
        len(gate.calibration_scores_) + 1
    )
    np.testing.assert_array_equal(gate.predict(inputs) == -1, np.array(expected["p_values"]) <= 0.2)


def test_there_is_a_golden_detector():
    assert {path.name for path in GOLDEN.glob("gate-v*")} >= {"gate-v1"}
