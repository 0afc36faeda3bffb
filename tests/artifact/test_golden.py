"""Detectors saved by earlier versions (``tests/golden/make_gates.py``) load and score as they did."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from dissensus import BayesianVAE, Detector
from dissensus.errors import ArtifactError
from dissensus.persistence.files import FORMAT_VERSION

pytestmark = pytest.mark.usefixtures("whole_self_test")

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture(scope="module")
def made():
    spec = importlib.util.spec_from_file_location("make_gates", GOLDEN / "make_gates.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("version", sorted(path.name for path in GOLDEN.glob("gate-v*")))
@pytest.mark.parametrize("kind", ["pictures", "rows", "table", "fused", "dates"])
def test_an_old_detector_scores_as_it_did(made, version, kind, tmp_path):
    gate = Detector.load(GOLDEN / version / kind, device="cpu")
    assert type(gate) is made.GATES[kind][0]
    expected = json.loads((GOLDEN / version / f"{kind}-expected.json").read_text("utf-8"))
    found = made.answers(gate, made.inputs(kind, tmp_path))
    np.testing.assert_allclose(found["log_likelihoods"], expected["log_likelihoods"], rtol=1e-5)
    # Scores are differences of log-likelihoods: what those may move by, they may.
    movement = 1e-5 * np.abs(found["log_likelihoods"]).max()
    np.testing.assert_allclose(found["scores"], expected["scores"], rtol=1e-5, atol=movement)
    # Another C library rounds otherwise: a score may pass calibration scores that are nearly equal to it.
    outlying, room = -np.array(expected["scores"]), movement + 1e-5 * np.abs(expected["scores"])
    calibration = np.sort(gate.calibration_scores_)
    least, most = (
        (1 + len(calibration) - np.searchsorted(calibration, at)) / (1 + len(calibration))
        for at in (outlying + room, outlying - room)
    )
    assert (least - 1e-12 <= found["p_values"]).all()
    assert (found["p_values"] <= most + 1e-12).all()
    flagged = np.array(found["scores"]) < -gate.threshold_  # scikit-learn's sign: higher is more normal
    np.testing.assert_array_equal(flagged, np.array(expected["p_values"]) <= gate.false_alarm_rate)


def test_there_are_golden_detectors_of_this_format_alone(made):
    assert {path.name for path in GOLDEN.glob("gate-v*")} == {f"gate-v{FORMAT_VERSION}"}
    folders = {path.name for path in (GOLDEN / "gate-v2").iterdir() if path.is_dir()}
    assert folders == set(made.GATES)


def test_the_golden_table_has_dates_and_rare_names():
    config = json.loads((GOLDEN / "gate-v2/dates/config.json").read_text("utf-8"))["detector"]
    columns = {column["name"]: column for column in config["table"]["columns"]}
    assert columns["day"]["kind"] == "dates"
    assert columns["day"]["may_miss"]
    assert columns["city"]["rare"] == ["Jena", "Ulm"]
    assert config["kind"] == "Detector"


def test_a_detector_is_no_vae_by_name():
    with pytest.raises(ArtifactError, match=r"load it with Detector\.load"):
        BayesianVAE.load(GOLDEN / "gate-v2/dates", device="cpu")
