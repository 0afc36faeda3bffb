"""The paper's records, from tiny images to rows."""

import numpy as np
import pytest
import torch
from PIL import Image
from rich.console import Console

from benchmarks.paper.benchmarks import expand
from benchmarks.paper.methods import find_methods
from benchmarks.paper.presets import RUNS, find_preset
from benchmarks.paper.runs import PaperRun
from benchmarks.paper.tasks import paper_tasks, selection_tasks
from benchmarks.records import Records
from benchmarks.runner import _batches, measure

CPU = torch.device("cpu")
FASHION = "fashion-mnist-vs-mnist"


@pytest.fixture
def records(tmp_path):
    return Records(tmp_path / "results", quick=True)


def made(records, tasks, tmp_path):
    return measure(records, tasks, cache=tmp_path / "cache", device=CPU, console=Console(quiet=True))


def test_records_hold_all_that_is_promised(records, tmp_path):
    tasks = paper_tasks(expand([FASHION]), find_methods(["ll", "tt", "bvae1"]), ["settled"], [0], quick=True)
    assert made(records, tasks, tmp_path) == []
    found = {record.name: record for record in records.read(FASHION)}
    assert set(found) == {"settled/LL", "settled/TT", "settled/BVAE1"}
    record = found["settled/BVAE1"]
    assert record.about["n_in"] == record.about["n_out"] == 12
    assert [row["score"] for row in record.rows] == [
        "BVAE1",
        "kl",
        "entropy",
        "std",
        "mean-ll",
        "ess-with-ties",
    ]
    assert record.settings["bvae1"]["sampling"]["rule"]["step_size"] == 1e-3
    assert record.about["runs"]["bvae1"]["draws"] == 6
    roc = record.about["roc"]
    assert np.trapezoid(roc["true"], roc["false"]) == pytest.approx(record.rows[0]["auroc"], abs=1e-3)
    shown = record.about["pictured"]
    assert len(shown["scores"]) == 16
    assert (shown["inliers"], shown["draws"]) == (8, 5)
    with Image.open(records.folder / shown["sheet"]) as sheet:
        assert sheet.size == (16 * 31 - 3, 6 * 31 - 3)
    likelihood = found["settled/LL"]
    assert sum(likelihood.about["histogram"]["in"]) >= 10
    assert "pictured" not in likelihood.about
    # One run serves both.
    assert len(list((tmp_path / "cache").glob("*vaes*.npz"))) == 1
    assert likelihood.seconds == found["settled/TT"].seconds


def test_candidates_are_compared_without_any_test_image(records, tmp_path, monkeypatch):
    from benchmarks.paper import benchmarks

    load = benchmarks.load_dataset

    def training_only(name, split):
        assert (name, split) == ("fashion-mnist", "train")
        return load(name, split)

    monkeypatch.setattr(benchmarks, "load_dataset", training_only)
    tasks = selection_tasks(expand([FASHION]), ["settled"], ["step_size=0.001,1000"], [0], quick=True)
    assert made(records, tasks, tmp_path) == []
    found = {record.name: record for record in records.read(f"selection-{FASHION}")}
    assert set(found) == {
        f"{name}/{run}" for name in ("settled", "settled+step_size=1000.0") for run in ("bvae1", "bvae2")
    }
    assert found["settled/bvae1"].rows[0]["validation_log_likelihood"] < 0
    wild = found["settled+step_size=1000.0/bvae2"]
    assert wild.rows == []
    assert "chain 0" in wild.about["diverged"]
    # That is an answer too: there is nothing left to do.
    before = (records.folder / f"selection-{FASHION}.jsonl").stat().st_mtime_ns
    assert made(records, tasks, tmp_path) == []
    assert (records.folder / f"selection-{FASHION}.jsonl").stat().st_mtime_ns == before


def test_what_is_made_together():
    """On a GPU what has as many epochs, on a CPU nothing."""
    (benchmark,) = expand([FASHION])
    tasks = paper_tasks([benchmark], find_methods([]), ["settled"], [0], quick=True)
    runs = {run.name: run for task in tasks for run in task.runs.values()}.values()
    assert isinstance(next(iter(runs)), PaperRun)
    epochs = {run: find_preset("settled").sampling(run).epochs for run in RUNS}
    assert epochs["bvae1"] != epochs["vaes"]
    together = [[run.run for run in batch] for batch in _batches(list(runs), torch.device("cuda"))]
    assert together == [["bvae1", "bvae2"], ["vaes", "background"]]
    assert [[run.run for run in batch] for batch in _batches(list(runs), CPU)] == [[run] for run in RUNS]
