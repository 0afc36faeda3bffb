"""`inspect`, `calibrate`, `explain` and `report`, and that what exists is never half replaced."""

import json
import shutil

import numpy as np
import pytest
from PIL import Image

from dissensus import BayesianVAE
from dissensus.cli import calibrate as module


@pytest.fixture
def own_gate(gate, tmp_path):
    """A copy that may be changed."""
    return shutil.copytree(gate, tmp_path / "own" / "gate")


def test_inspect_says_what_the_gate_is(dissensus, gate):
    facts = dissensus("inspect", gate, "--json").json
    detector = BayesianVAE.load(gate, device="cpu")
    assert facts["input_shape"] == [8, 8, 1]
    assert facts["threshold"] == detector.threshold_
    assert facts["false_alarm_interval"]["low"] == detector.false_alarm_interval_.low
    assert facts["fitted_rows"] == detector.fitted_rows_
    assert sum(facts["fitted_rows"].values()) == 60
    assert facts["health"]["networks"]
    text = dissensus("inspect", gate)
    assert text.code == 0
    for words in ("images of 8×8×1", "fitted on 60 inputs", "false-alarm rate of 0.5", "noise floor"):
        assert words in " ".join(text.out.split()), text.out


def test_inspect_compares_recent_inputs_with_the_calibration_inputs(dissensus, gate, images_file, tmp_path):
    detector = BayesianVAE.load(gate, device="cpu")
    images = np.load(images_file)
    np.save(tmp_path / "strange.npy", 255 - np.roll(images, 3, axis=1) // 2)
    for data in (images_file, tmp_path / "strange.npy"):
        facts = dissensus("inspect", gate, "--recent", data, "--json").json
        expected = detector.check_exchangeable(np.load(data))
        assert facts["recent"] == expected.to_dict()
        text = dissensus("inspect", gate, "--recent", data)
        assert text.code == 0, text.err
        assert expected.sentence in " ".join(text.out.split())
    assert facts["recent"]["shift"] == "higher"
    assert "recent" not in dissensus("inspect", gate, "--json").json
    assert dissensus("inspect", gate, "--recent", tmp_path / "none.npy").code == 2


def test_inspect_of_what_is_no_gate(dissensus, own_gate, tmp_path):
    assert dissensus("inspect", tmp_path).code == 2
    file = own_gate / "draws.safetensors"
    file.write_bytes(file.read_bytes()[:-5])
    answer = dissensus("inspect", own_gate, "--quiet")
    assert (answer.code, answer.out) == (2, "")
    assert "draws.safetensors" in answer.err


def test_calibrate_replaces_or_adds(dissensus, own_gate, images_file):
    before = BayesianVAE.load(own_gate, device="cpu")
    added = dissensus("calibrate", own_gate, images_file, "--keep", "--json")
    assert added.code == 0, added.err
    assert added.json["calibration_inputs"] == len(before.calibration_scores_) + 60
    replaced = dissensus("calibrate", own_gate, images_file, "--false-alarm-rate", 0.1)
    assert replaced.code == 0, replaced.err
    assert "60 calibration inputs" in replaced.err
    after = BayesianVAE.load(own_gate, device="cpu")
    assert after.false_alarm_rate == 0.1
    expected = before.decide(np.load(images_file)).score
    np.testing.assert_allclose(np.sort(after.calibration_scores_), np.sort(expected), rtol=1e-5, atol=1e-5)


def test_calibrate_can_save_elsewhere(dissensus, own_gate, images_file, tmp_path):
    before = (own_gate / "config.json").read_bytes()
    assert dissensus("calibrate", own_gate, images_file, "-o", tmp_path / "new").code == 0
    assert (own_gate / "config.json").read_bytes() == before
    (tmp_path / "file").write_text("precious")
    assert dissensus("calibrate", own_gate, images_file, "-o", tmp_path / "file").code == 2
    assert (tmp_path / "file").read_text() == "precious"


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_interrupted_calibration_leaves_the_gate(dissensus, own_gate, images_file, monkeypatch, error):
    before = {path.name: path.read_bytes() for path in own_gate.iterdir()}

    def stopped(*_, **__):
        raise error

    monkeypatch.setattr(BayesianVAE, "recalibrate", stopped)
    assert dissensus("calibrate", own_gate, images_file).code == (130 if error is KeyboardInterrupt else 3)
    assert {path.name: path.read_bytes() for path in own_gate.iterdir()} == before
    assert module.__all__ == ["calibrate"]


def test_calibrate_refuses_other_inputs(dissensus, own_gate, tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((5, 3)))
    answer = dissensus("calibrate", own_gate, tmp_path / "x.npy")
    assert answer.code == 2
    assert str(tmp_path / "x.npy") in answer.err


def test_explain_a_picture(dissensus, gate, folder, tmp_path):
    answer = dissensus("explain", gate, folder / "0.png", "-o", tmp_path / "why", "--json")
    assert answer.code == 0, answer.err
    assert answer.json["input"] == "0.png"
    assert {"row", "column", "nats"} == set(answer.json["disagreement"][0])
    files = {path.name for path in (tmp_path / "why").iterdir()}
    assert files >= {"explanation.json", "input.png", "disagreement.png", "draw-1.png", "neighbour-1.png"}
    for name in files - {"explanation.json"}:
        Image.open(tmp_path / "why" / name).verify()
    assert json.loads((tmp_path / "why" / "explanation.json").read_text("utf-8")) == answer.json
    score = dissensus("score", gate, folder / "0.png", "-o", tmp_path / "row.jsonl")
    assert score.code == 0
    row = json.loads((tmp_path / "row.jsonl").read_text())
    assert row["score"] == pytest.approx(answer.json["score"], rel=1e-5, abs=1e-5)


def test_explain_in_words(dissensus, gate, folder):
    answer = dissensus("explain", gate, folder, "--row", 5)
    assert answer.code == 0, answer.err
    assert answer.out.startswith("deep/3.png\n")
    assert "lagged: about " in answer.out
    assert "What matters most" in answer.out
    assert "above" in answer.out


def test_explain_of_what_is_not_there(dissensus, gate, folder, tmp_path):
    assert "no row 7" in dissensus("explain", gate, folder, "--row", 7).err
    (tmp_path / "file").write_text("precious")
    assert dissensus("explain", gate, folder, "-o", tmp_path / "file").code == 2
    assert dissensus("explain", gate, "-").code == 2
    (folder / "0.png").write_bytes(b"no picture")
    answer = dissensus("explain", gate, folder)
    assert answer.code == 2
    assert "0.png" in answer.err


def test_report_and_its_exit_code(dissensus, gate, images_file, tmp_path, monkeypatch):
    page = tmp_path / "report.html"
    answer = dissensus("report", gate, images_file, "-o", page, "--shown", 1, "--json", "--fail-on-outliers")
    assert answer.json["inputs"] == 60
    assert answer.code == (0 if answer.json["passed"] else 1), answer.err
    assert page.read_text("utf-8").startswith("<!")
    assert json.loads((tmp_path / "report.json").read_text("utf-8")) == answer.json
    monkeypatch.setattr("dissensus.inspection.Assessment.passed", lambda _: False)
    brief = ("report", gate, images_file, "-o", page, "--shown", 0)
    assert dissensus(*brief).code == 0
    assert dissensus(*brief, "--fail-on-outliers").code == 1
    assert dissensus("report", gate, images_file, "-o", tmp_path / "none" / "r.html").code == 2
