"""The demonstration with little of everything: what it measures is what an independent computation gives."""

import json
from types import MappingProxyType

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from typer.testing import CliRunner

from dissensus import BayesianVAE
from dissensus.demo import COLUMNS, demo_detector, demo_record, run, run_demo, write_files
from dissensus.inputs import MADE_UP, load_sample
from dissensus.scores import score


@pytest.fixture(scope="module")
def small():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "TRAINING", 120)
        patch.setattr(run, "INLIERS", 12)
        patch.setattr(run, "OUTLIERS", 6)
        settings = run.SETTINGS | {"epochs": 3, "draws": 4, "samples": 2, "widths": (4, 8)}
        settings["false_alarm_rate"] = 0.2
        patch.setattr(run, "SETTINGS", MappingProxyType({**settings, "statistic": "kl"}))
        yield


@pytest.fixture(scope="module")
def shown(small):
    return run_demo(demo_detector(seed=1))


def test_it_asks_about_every_kind_of_outlier(shown):
    assert list(shown.outliers) == ["digits", *MADE_UP]
    assert {values.shape for values in shown.inlier_statistics.values()} == {(12,)}
    assert all(images.shape == (6, 28, 28) for images in shown.outliers.values())
    for kind, images in shown.outliers.items():
        np.testing.assert_array_equal(
            shown.scores(shown.gate.statistic_)[1][kind], -shown.gate.score_samples(images)
        )


def test_outliers_are_not_made_of_the_inliers(shown):
    inverted_back = 255 - shown.outliers["inverted"]
    assert not any((image == other).all() for image in inverted_back for other in shown.inliers)


def fifth_distances(images):
    """To the 120 training images on their first 64 principal components, by brute force."""
    training = load_sample()[0].images[:120].reshape(120, -1) / 255.0
    axes = np.linalg.svd(training - training.mean(0), full_matrices=False)[2][:64]
    here, there = images.reshape(len(images), -1) / 255.0 @ axes.T, training @ axes.T
    return np.sort(np.linalg.norm(here[:, None] - there, axis=2))[:, 4]


def test_the_record_holds_what_was_measured(shown):
    record = demo_record(shown)
    json.dumps(record, allow_nan=False)
    inliers = shown.gate.log_likelihoods(shown.inliers).values
    for kind, outlier in record["outliers"].items():
        assert tuple(outlier["auroc"]) == COLUMNS
        outliers = shown.gate.log_likelihoods(shown.outliers[kind]).values
        for name, area in outlier["auroc"].items():
            if name == "neighbours":
                scores = fifth_distances(np.concatenate([shown.inliers, shown.outliers[kind]]))
            else:
                scores = score(name)(np.hstack([inliers, outliers]))
            expected = roc_auc_score([0] * 12 + [1] * 6, scores)
            assert area["value"] == pytest.approx(expected)
            assert area["low"] <= area["value"] <= area["high"]
        assert outlier["flagged"] == (shown.gate.predict(shown.outliers[kind]) == -1).sum()
    assert record["inliers"] == {"count": 12, "flagged": (shown.gate.predict(shown.inliers) == -1).sum()}
    assert (record["training"], record["seed"]) == (120, 1)


def test_the_command_leaves_a_report_and_a_gate_that_works(small, tmp_path):
    from dissensus.cli import app

    answer = CliRunner().invoke(app, ["demo", "-o", str(tmp_path / "report"), "--json", "--seed", "1"])
    assert answer.exit_code == 0, answer.output
    assert answer.stderr == ""
    names = ["figure.png", "gate", "report.html", "results.json"]
    assert sorted(path.name for path in (tmp_path / "report").iterdir()) == names
    assert json.loads(answer.stdout) == json.loads((tmp_path / "report" / "results.json").read_text("utf-8"))
    assert BayesianVAE.load(tmp_path / "report" / "gate").seed_ == 1


def test_the_command_prints_a_table_and_its_meaning(shown, tmp_path, monkeypatch):
    from dissensus.cli import app

    monkeypatch.setattr("dissensus.demo.run_demo", lambda *_, **__: shown)
    answer = CliRunner().invoke(app, ["demo", "-o", str(tmp_path)], env={"COLUMNS": "120"})
    assert answer.exit_code == 0, answer.output
    for word in (
        "digits",
        *MADE_UP,
        *COLUMNS,
        "What the numbers say",
        "unseen clothes were flagged",
        "report.html",
    ):
        assert word in answer.stdout


def test_a_statistic_of_its_own_gets_a_column_and_the_saved_gate_is_asked_by_default(small, tmp_path):
    gate = demo_detector(seed=1).set_params(statistic="fused")
    shown = run_demo(gate)
    record = demo_record(shown)
    digits = record["outliers"]["digits"]
    assert tuple(digits["auroc"]) == (*COLUMNS, "fused")
    both = np.concatenate([shown.inliers, shown.outliers["digits"]])
    expected = roc_auc_score([0] * 12 + [1] * 6, -gate.score_samples(both))
    assert digits["auroc"]["fused"]["value"] == pytest.approx(expected)
    assert digits["flagged"] == (gate.predict(shown.outliers["digits"]) == -1).sum()
    write_files(tmp_path, shown, record)
    saved = BayesianVAE.load(tmp_path / "gate")
    assert (gate.effort, saved.effort) == ("thorough", "standard")
