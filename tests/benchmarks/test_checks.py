"""Checks: measured once, found by name, put into words from their records alone."""

import numpy as np
import pytest
from typer.testing import CliRunner

from benchmarks.__main__ import app
from benchmarks.checks import demo, fused, gpu, importance, proposals, streaming
from benchmarks.checks.asked import Asked
from benchmarks.checks.registry import CHECKS, find_check, find_names
from benchmarks.pieces import Found, Piece
from benchmarks.places import ROOT
from benchmarks.records import Record, Records
from dissensus.errors import DissensusError, SettingsError
from dissensus.inputs import load_sample
from dissensus.likelihood import log_likelihoods


def run(*arguments):
    return CliRunner().invoke(app, ["checks", *map(str, arguments)])


@pytest.mark.parametrize("name", CHECKS)
def test_every_name_is_a_check(name):
    check = find_check(name)
    pieces = list(check.pieces(Asked(seeds=(0, 1))))
    assert pieces
    assert {piece.group for piece in pieces} == {name}
    quick = list(check.pieces(Asked(seeds=(0, 1), quick=True)))
    assert len(quick) == len(pieces)


def test_names():
    assert find_names([]) == list(CHECKS)
    assert find_names(["fuzz", "demo"]) == ["demo", "fuzz"]
    with pytest.raises(SettingsError, match="no check 'x'; choose one of demo"):
        find_names(["x"])
    assert "streaming: time and memory" in run("--list").stdout


def test_both_proposals_are_measured_on_the_same_draws(monkeypatch):
    train, test = load_sample()
    monkeypatch.setattr(proposals, "load_dataset", lambda _, part: train if part == "train" else test)
    monkeypatch.setattr(proposals, "PAIRS", (("clothes", "clothes"),))
    (piece,) = proposals.pieces(Asked(quick=True))
    own, pooled = piece.measure(lambda _: None).rows
    assert (own["proposal"], pooled["proposal"]) == ("own", "pooled")
    assert own["error"] != pooled["error"]
    assert own["ess"] == own["kl"] == own["std"] == 0.5  # of pictures and themselves


def test_what_was_measured_is_not_measured_again_and_findings_fail(tmp_path, monkeypatch):
    calls = []

    def measure(_):
        calls.append(0)
        return Found(
            [{"error": 1, "result": 0}], {"findings": [{"case": 7, "kind": "k", "found": "a crash"}]}
        )

    piece = Piece("fuzz", "mutations", {"cases": 1}, measure)
    monkeypatch.setattr("benchmarks.checks.fuzz.pieces", lambda _: [piece])
    answers = [run("--only", "fuzz", "--output", tmp_path) for _ in range(2)]
    assert len(calls) == 1
    assert [answer.exit_code for answer in answers] == [3, 3]
    assert "Case 7, k: a crash" in answers[0].stdout
    printed = run("--only", "fuzz", "--output", tmp_path, "--table")
    assert printed.exit_code == 0
    assert printed.stdout == answers[0].stdout
    (record,) = Records(tmp_path).read("fuzz")
    assert record.seconds["all"] >= 0


def test_means_are_over_seeds_and_sets():
    rows = [
        {"inputs": kind, "statistic": "kl", "auroc": area, "flagged": 0.0}
        for kind, area in (("inliers", None), ("digits", 0.9), ("noise", 0.5))
    ]
    again = [dict(row, auroc=row["auroc"] and row["auroc"] + 0.1) for row in rows]
    records = [Record("clothes", seed, {}, own, {}) for seed, own in enumerate((rows, again))]
    assert fused.mean_auroc(records, "kl") == pytest.approx(0.75)
    assert fused.worst_auroc(records, "kl") == pytest.approx(0.55)


def test_the_demo_in_words():
    about = {"gate": {"statistic": "fused"}, "inliers": {"flagged": 10, "count": 300}}
    rows = [
        {"outliers": kind, "score": score, "auroc": area}
        for kind, score, area in (("digits", "fused", 1.0), ("flipped", "fused", 0.8), ("flipped", "kl", 0.1))
    ]
    (said,) = demo.sentences([Record("d", 0, {}, rows, {"fitting": 71.6}, about)])
    assert (
        said == "Demo: fitted in 72 s; 10 of 300 unseen clothes were flagged; AUROC 0.800 (flipped) to 1.000."
    )


def test_the_oracle_of_importance_sampling_knows_the_truth():
    exact = importance.linear_gaussian(5, shift=0.0, width=1.0)  # its encoder is the posterior
    matrix = log_likelihoods(exact.vae, exact.draws, exact.data, samples=3)
    np.testing.assert_allclose(matrix.values[0], exact.truth, atol=1e-4)
    assert np.abs(matrix.biases).max() < 1e-6
    # One that is too narrow is too low, by more than it can tell: the largest weights are rare.
    row = importance._row(importance.linear_gaussian(1), 16, noises=100)
    assert row["bias"] < 3 * row["stated_bias"] < 0
    assert row["bias"] < row["jackknife_bias"] < row["stated_bias"]
    assert row["spread"] > row["stated_error"]
    assert importance._row(exact, 1, noises=2)["stated_bias"] is None


def test_images_to_stream_are_all_different(tmp_path):
    streaming.write_images(tmp_path / "images.npy", 50, np.zeros((3, 28, 28), np.uint8))
    images = np.load(tmp_path / "images.npy")
    assert images.shape == (50, 28, 28)
    assert len(np.unique(images.reshape(50, -1), axis=0)) == 50


A_FEW = """
import pytest

@pytest.mark.gpu
@pytest.mark.parametrize("n", [1, 2])
def test_good(n):
    assert n

@pytest.mark.gpu
class TestMore:
    def test_bad(self):
        assert not "a finding"

    def test_skipped(self):
        pytest.skip("for want of a package")

def test_not_marked():
    raise AssertionError
"""


@pytest.fixture
def marked(tmp_path):
    """A checkout with one file of marked tests and one without."""
    (tmp_path / "tests" / "deep").mkdir(parents=True)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = gpu: x\n")
    (tmp_path / "tests" / "deep" / "test_few.py").write_text(A_FEW)
    (tmp_path / "tests" / "test_other.py").write_text("import a_package_that_is_not_there\n")
    return tmp_path


def test_marked_tests_are_run_and_their_ends_recorded(marked, monkeypatch, tmp_path):
    files = gpu.marked_files(marked)
    assert files == ("tests/deep/test_few.py",)  # the other one could not even be imported
    rows, printed = gpu.outcomes(files, marked)
    assert "a finding" in printed
    ends = {row["test"].partition("test_few")[2]: row["outcome"] for row in rows}
    assert ends == {
        "::test_good[1]": "passed",
        "::test_good[2]": "passed",
        ".TestMore::test_bad": "failed",
        ".TestMore::test_skipped": "skipped",
    }
    monkeypatch.setattr(gpu.torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(gpu, "gpu_name", lambda _: "a GPU")
    monkeypatch.setattr(gpu, "ROOT", marked)
    monkeypatch.setattr(gpu, "outcomes", lambda _: (rows, printed))
    answer = run("--only", "gpu", "--output", tmp_path / "out")
    assert answer.exit_code == 3
    assert "GPU: 2 tests passed, 1 failed and 1 were skipped on a GPU" in answer.stdout
    assert "test_bad" in answer.stdout
    (record,) = Records(tmp_path / "out").read("gpu")
    assert record.environment["gpu"] == "a GPU"
    assert len(record.rows) == 4


def test_without_a_gpu_or_a_test_nothing_is_recorded(marked, monkeypatch, tmp_path):
    monkeypatch.setattr(gpu.torch.cuda, "is_available", lambda: False)
    answer = run("--only", "gpu", "--output", tmp_path / "out", "--again")
    assert answer.exit_code == 2
    assert "there is no GPU here" in answer.output
    (marked / "tests" / "deep" / "test_few.py").write_text("syntax error\n")
    rows, printed = gpu.outcomes(("tests/deep/test_few.py",), marked)
    assert [row["outcome"] for row in rows] == ["failed"]
    assert "SyntaxError" in printed
    with pytest.raises(DissensusError, match="pytest did not run"):
        gpu.outcomes(("--no-such-option",), marked)


def test_every_test_that_needs_a_gpu_says_so_by_its_mark():
    """So that one command finds them all."""
    for path in (ROOT / "tests").rglob("*.py"):
        text = path.read_text("utf-8")
        assert "not torch.cuda" + ".is_available()" not in text or path == ROOT / "tests/conftest.py", path
    assert len(gpu.marked_files(ROOT)) >= 8
