import numpy as np
import pytest
from picture_bombs import jpeg_with_scans

from dissensus import BayesianVAE


def test_fit_saves_a_gate_and_leaves_nothing_else(fit, images_file, tmp_path):
    answer = fit(images_file, tmp_path / "new" / "gate")
    assert answer.code == 0
    assert "next: dissensus score" in answer.out
    assert answer.err == ""  # no bars where there is no terminal
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["gate"]
    assert BayesianVAE.load(tmp_path / "new" / "gate").draws == 4


def test_json(fit, images_file, tmp_path):
    answer = fit(images_file, tmp_path / "gate", "--json")
    gate = BayesianVAE.load(tmp_path / "gate")
    assert answer.json["inputs"] == 60
    assert answer.json["left_out"] is None
    assert answer.json["input_shape"] == [8, 8, 1]
    assert answer.json["threshold"] == gate.threshold_
    assert answer.json["calibration_inputs"] == len(gate.calibration_scores_)
    assert answer.err == ""


def test_quiet_says_nothing_and_replaces_an_older_gate(fit, images_file, tmp_path):
    for seed in (0, 1):
        answer = fit(images_file, tmp_path / "gate", "--quiet", "--seed", seed)
        assert (answer.code, answer.out, answer.err) == (0, "", "")
        assert BayesianVAE.load(tmp_path / "gate").seed_ == seed


def test_settings_reach_the_detector(fit, images_file, tmp_path):
    more = [
        "--variant",
        2,
        "--statistic",
        "typicality",
        "--observation",
        "gaussian",
        "--chains",
        1,
        "--seed",
        5,
    ]
    assert fit(images_file, tmp_path / "gate", *more).code == 0
    gate = BayesianVAE.load(tmp_path / "gate")
    assert (gate.variant, gate.statistic, gate.observation) == (2, "typicality", "gaussian")
    assert (gate.chains, gate.seed_, gate.false_alarm_rate) == (1, 5, 0.5)


def test_contamination_is_told_by_every_command(fit, dissensus, images_file, tmp_path):
    answer = fit(images_file, tmp_path / "gate", "--contamination", 0.1)
    said = "left out the most unusual 4 training and 1 validation inputs, at a contamination of 0.1"
    assert said in " ".join(answer.out.split()), answer.err
    assert {path.name for path in tmp_path.iterdir()} == {"gate"}
    assert said in " ".join(dissensus("inspect", tmp_path / "gate").out.split())
    found = {"contamination": 0.1, "train": 4, "validation": 1}
    assert dissensus("inspect", tmp_path / "gate", "--json").json["left_out"] == found
    assert dissensus("report", tmp_path / "gate", images_file, "-o", tmp_path / "r.html").code in (0, 1)
    assert "the most unusual 4 training and 1 validation" in (tmp_path / "r.html").read_text("utf-8")
    again = fit(images_file, tmp_path / "gate", "--contamination", 0.1, "--false-alarm-rate", 0.1, "--json")
    assert again.json["left_out"] == found
    assert "one of them is the threshold" in again.err


def test_a_contamination_that_is_none_is_refused(fit, images_file, tmp_path):
    answer = fit(images_file, tmp_path / "gate", "--contamination", 10)
    assert answer.code == 2
    assert "contamination must be the share" in answer.err


@pytest.mark.filterwarnings("ignore::dissensus.errors.CalibrationWarning")
def test_resize_is_part_of_the_gate(fit, dissensus, folder, tmp_path):
    assert fit(folder, tmp_path / "gate", "--resize", "10x12").code == 0
    assert BayesianVAE.load(tmp_path / "gate").preprocessor_.shape == (10, 12, 1)
    answer = dissensus("score", tmp_path / "gate", folder, "--json")
    assert (answer.code, answer.json["inputs"]) == (0, 7)


def test_unreadable_pictures_are_left_out_on_request(fit, folder, tmp_path):
    (folder / "3.png").write_bytes(b"no picture")
    answer = fit(folder, tmp_path / "gate", "--skip-unreadable", "--json")
    assert answer.code == 0
    assert (answer.json["inputs"], answer.json["unreadable"]) == (7, 1)
    assert "3.png" in answer.err


def test_a_picture_that_would_take_minutes_is_named_or_left_out(fit, folder, tmp_path):
    (folder / "3.jpg").write_bytes(jpeg_with_scans(5000, 5000))
    answer = fit(folder, tmp_path / "gate")
    assert answer.code == 2
    assert "3.jpg has more than 100 scans" in answer.err
    answer = fit(folder, tmp_path / "gate", "--skip-unreadable", "--json")
    assert (answer.code, answer.json["inputs"], answer.json["unreadable"]) == (0, 7, 1)


def test_too_few_calibration_rows_are_told(fit, images_file, tmp_path):
    answer = fit(images_file, tmp_path / "gate", "--false-alarm-rate", 0.01, "--json")
    assert answer.code == 0
    assert answer.json["threshold"] is None
    assert "nothing will be flagged" in answer.err
    assert "Warning" not in answer.err


def test_a_checkpoint_folder_of_ones_own_is_kept(fit, images_file, tmp_path):
    assert fit(images_file, tmp_path / "gate", "--checkpoint", tmp_path / "kept").code == 0
    assert (tmp_path / "kept" / "state.safetensors").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"gate", "kept"}


def test_rows_of_numbers(fit, dissensus, tmp_path):
    rows = np.random.default_rng(0).normal(size=(80, 3))
    rows[:, 2] = 4.0  # a column without variance
    np.save(tmp_path / "rows.npy", rows)
    assert fit(tmp_path / "rows.npy", tmp_path / "gate").code == 0
    answer = dissensus("score", tmp_path / "gate", tmp_path / "rows.npy")
    assert answer.code == 0
    assert len(answer.out.splitlines()) == 81


def test_the_bar_counts_both_fits():
    from dissensus.cli.fit import how_to_go_on
    from dissensus.cli.progress import StageProgress, fit_work
    from dissensus.detector.trimming import AGAIN, TRIMMING

    assert list(fit_work(BayesianVAE(), 100)) == ["sampling", "calibrating"]
    work = fit_work(BayesianVAE(), 100, twice=True)
    assert list(work) == ["sampling", TRIMMING, AGAIN, "calibrating"]
    assert work[AGAIN] == work["sampling"] > 0
    progress = StageProgress(work, quiet=True)
    for stage, said in [
        ("sampling", "after epoch 2 of 4: "),
        (TRIMMING, "while trimming: "),
        (AGAIN, "after epoch 2 of 4 of the second fit: "),
    ]:
        progress.last = stage, 2, 4
        assert f"interrupted {said}" in how_to_go_on(progress)
