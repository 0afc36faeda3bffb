"""The runner on runs that cost nothing: what is made, when, and what is left when it is stopped."""

from dataclasses import dataclass, field

import numpy as np
import pytest
import torch
from rich.console import Console

from benchmarks.archive import Archive
from benchmarks.progress import WorkProgress
from benchmarks.records import Records
from benchmarks.runner import MOST_TOGETHER, Report, Run, Task, measure
from dissensus.errors import DivergenceError

CPU = torch.device("cpu")


class Log:
    """What was loaded and made, and what is to go wrong."""

    def __init__(self):
        self.loaded, self.made, self.folders = [], [], []
        self.diverging, self.interrupted = set(), set()


@dataclass(frozen=True)
class Count(Run):
    """Leaves its own number; equal trainings are one."""

    number: int
    log: Log = field(compare=False)
    seed: int = 0
    trained: int | None = None
    source: str = "images"

    @property
    def label(self):
        return f"count, {self.number}, seed {self.seed}"

    @property
    def settings(self):
        return {"number": self.number}

    @property
    def training(self):
        return self.name if self.trained is None else f"training-{self.trained}"

    @property
    def inputs(self):
        return self.source

    def load(self, device):
        self.log.loaded.append(self.source)
        return self.source

    def together(self, device):
        return "all" if device.type == "cuda" else self.training

    @staticmethod
    def work(runs):
        return float(len({run.training for run in runs}))

    @staticmethod
    def make(runs, data, advance, checkpoint):
        log = runs[0].log
        advance(0.5)
        log.made.append([run.number for run in runs])
        log.folders.append(checkpoint)
        if checkpoint is not None:
            checkpoint.mkdir(parents=True)
        if log.diverging & {run.number for run in runs}:
            raise DivergenceError("chain 0 runs away")
        for run in runs:
            if run.number in log.interrupted:
                raise KeyboardInterrupt
            assert data == run.source
            info = {"draws": 3, "seconds": {"training": 1.0}, "diagnostics": {"rhat": 1.0}}
            yield run, Archive({"number": np.array(run.number)}, info)


def report(results):
    return Report([{"sum": sum(int(result["number"]) for result in results.values())}], {"note": "made up"})


def task(*runs, name=None, group="all", **more):
    named = {f"run{run.number}": run for run in runs}
    settings = {short: run.settings for short, run in named.items()}
    name = name or "+".join(str(run.number) for run in runs)
    return Task(group, name, runs[0].seed, settings, named, report, **more)


@pytest.fixture
def log():
    return Log()


@pytest.fixture
def records(tmp_path):
    return Records(tmp_path / "results")


@pytest.fixture
def run(records, tmp_path):
    def call(*tasks, device=CPU, **more):
        return measure(
            records, tasks, cache=tmp_path / "cache", device=device, console=Console(quiet=True), **more
        )

    return call


def test_a_run_serves_all_that_need_it_and_nothing_is_made_twice(run, records, log):
    tasks = [task(Count(1, log)), task(Count(1, log), Count(2, log)), task(Count(2, log), name="again")]
    assert run(*tasks) == []
    assert log.made == [[1], [2]]
    found = {record.name: record for record in records.read("all")}
    assert {name: each.rows[0]["sum"] for name, each in found.items()} == {"1": 1, "1+2": 3, "again": 2}
    both = found["1+2"]
    assert both.settings == {"run1": {"number": 1}, "run2": {"number": 2}}
    assert both.seconds == {"run1, training": 1.0, "run2, training": 1.0}
    assert both.about["note"] == "made up"
    assert both.about["runs"]["run2"] == {"draws": 3, "diagnostics": {"rhat": 1}}
    assert both.environment["versions"]["torch"]
    assert run(*tasks) == []
    assert run(task(Count(2, log), Count(1, log), name="other way")) == []  # from what is cached
    assert len(log.made) == 2


def test_inputs_are_loaded_once_for_neighbours(run, log):
    run(*(task(Count(number, log, source=source)) for number, source in enumerate("aabba")))
    assert log.loaded == ["a", "b", "a"]


def test_records_are_written_as_soon_as_their_runs_are_there(run, records, log):
    log.interrupted = {2}
    tasks = [task(Count(1, log)), task(Count(1, log), Count(2, log)), task(Count(3, log))]
    with pytest.raises(KeyboardInterrupt):
        run(*tasks)
    assert [record.name for record in records.read("all")] == ["1"]
    log.interrupted = set()
    assert log.folders[1].is_dir()  # an interrupted training goes on from there
    log.folders[1].rmdir()
    assert run(*tasks) == []
    assert log.made == [[1], [2], [2], [3]]
    assert len(records.read("all")) == 3
    assert not any(folder.exists() for folder in log.folders)


def test_changed_settings_are_measured_anew(run, records, log):
    run(task(Count(1, log), name="it"))
    run(task(Count(2, log), name="it"))
    assert [record.rows for record in records.read("all")] == [[{"sum": 2}]]


def test_records_can_be_made_anew_from_what_is_cached(run, records, log):
    run(task(Count(1, log)))
    before = records.folder.joinpath("all.jsonl").stat().st_mtime_ns
    run(task(Count(1, log)), anew=True)
    assert len(log.made) == 1
    assert records.folder.joinpath("all.jsonl").stat().st_mtime_ns > before


def test_a_record_says_where_its_runs_were_made_if_it_was_elsewhere(run, records, log, monkeypatch):
    monkeypatch.setattr("benchmarks.runner.environment", lambda **_: {"gpu": "a large one"})
    run(task(Count(1, log)))
    monkeypatch.setattr("benchmarks.runner.environment", lambda gpu: {"gpu": gpu})
    run(task(Count(1, log), name="later"))
    first, later = records.read("all")
    assert first.environment == {"gpu": "a large one"}
    assert "environment" not in first.about["runs"]["run1"]
    assert later.environment == {"gpu": None}
    assert later.about["runs"]["run1"]["environment"] == {"gpu": "a large one"}


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_divergence_fails_its_own_records_only(run, records, log, monkeypatch, device):
    monkeypatch.setattr("benchmarks.runner.gpu_name", lambda _: None)
    log.diverging = {2}
    tasks = [task(Count(1, log)), task(Count(1, log), Count(2, log)), task(Count(3, log))]
    assert run(*tasks, device=torch.device(device)) == ["count, 2, seed 0: chain 0 runs away"]
    assert [record.name for record in records.read("all")] == ["1", "3"]
    together = [[1, 2, 3]] if device == "cuda" else []  # and then each alone
    assert log.made == [*together, [1], [2], [3]]


def test_a_divergence_may_be_an_answer(run, records, log):
    log.diverging = {1}
    asked = task(Count(1, log), keeps_divergence=True)
    assert run(asked) == []
    (record,) = records.read("all")
    assert (record.rows, record.about) == ([], {"diverged": "chain 0 runs away"})
    assert run(asked) == []
    assert len(log.made) == 1


def test_a_training_is_never_divided_and_few_share_a_gpu(run, log, monkeypatch):
    monkeypatch.setattr("benchmarks.runner.gpu_name", lambda _: None)
    runs = [Count(number, log, trained=number // 2) for number in range(2 * MOST_TOGETHER + 2)]
    run(*map(task, runs), device=torch.device("cuda"))
    assert log.made == [list(range(2 * MOST_TOGETHER)), [2 * MOST_TOGETHER, 2 * MOST_TOGETHER + 1]]
    assert log.folders == [None, None]  # writing them would take as long as the runs


def test_one_training_serves_several_runs_on_a_cpu_too(run, log):
    run(*(task(Count(number, log, trained=0)) for number in (1, 2)))
    assert log.made == [[1, 2]]
    log.diverging = {3, 4}
    failed = run(*(task(Count(number, log, trained=1)) for number in (3, 4)))
    assert len(failed) == 2
    assert log.made[1:] == [[3, 4]]  # it would diverge again


def test_what_is_left_is_counted_in_work_that_is_missing(run, log, monkeypatch):
    totals = []

    def begin(console, total):
        totals.append(total)
        return WorkProgress(console, total)

    monkeypatch.setattr("benchmarks.runner.WorkProgress", begin)
    run(task(Count(1, log)))
    run(task(Count(1, log), Count(2, log)), task(Count(3, log)))
    assert totals == [1.0, 2.0]
