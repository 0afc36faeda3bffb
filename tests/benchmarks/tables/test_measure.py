"""One detector on one table, and all of them, resumed where they were stopped."""

import math
import operator
import os
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from rich.console import Console

from benchmarks.records import Records
from benchmarks.tables import jobs as jobs_module
from benchmarks.tables.contract import Fitted
from benchmarks.tables.jobs import jobs_of, measure_jobs
from benchmarks.tables.measure import Job, measure
from benchmarks.tables.processes import BrokenProcessPool, in_processes
from benchmarks.tables.sets import find_tables

FITTED_ON = []
TOLD = []


@dataclass(frozen=True)
class Norm:
    """The length of a row."""

    broken: bool = False
    own: bool = False
    version: int = 0

    def settings(self):
        return {"version": self.version}

    def lacking(self):
        return None

    def fit(self, rows, /, *, seed, contamination=None):
        if self.broken:
            raise ValueError(f"no fit with seed {seed}")
        FITTED_ON.append(rows)
        TOLD.append(contamination)
        return Fitted(lambda asked: np.linalg.norm(asked, axis=1), np.zeros_like if self.own else None)


def test_a_row_of_numbers(folder):
    FITTED_ON.clear()
    row, seconds, about = measure(Job("norm", folder / "set-0.npz", 0, Norm()))
    assert (row["rows"], row["columns"], row["normal"], row["strange"]) == (30, 2, 30, 10)
    assert row["auroc"] == row["average_precision"] == 1.0
    assert row["calibration"] == 4
    assert row["false_alarms"] == 0.0  # four rows allow none
    assert set(seconds) == {"fit", "score"}
    assert about == {}
    assert [len(rows) for rows in FITTED_ON] == [30, 26]


def test_false_alarms_are_by_rows_that_were_set_aside(tmp_path):
    rows = np.random.default_rng(0).normal(size=(4_000, 2))
    np.savez(tmp_path / "large.npz", X=rows, y=np.arange(4_000) < 10)
    row = measure(Job("norm", tmp_path / "large.npz", 0, Norm())).row
    assert row["calibration"] == 299
    assert 0.03 < row["false_alarms"] < 0.08
    # A detector that has set rows aside itself says its own p-values: here, that all are alarms.
    assert measure(Job("norm", tmp_path / "large.npz", 0, Norm(own=True))).row["false_alarms"] == 1.0


def test_an_error_is_a_row(folder):
    outcome = measure(Job("norm", folder / "set-0.npz", 5, Norm(broken=True)))
    assert outcome.row["error"] == "ValueError: no fit with seed 5"
    assert outcome.row["rows"] == 30
    assert not outcome.seconds


def test_a_process_that_dies_takes_nothing_else_with_it():
    # The second ends its process; there is one worker, so that the last needs a new one.
    things = [partial(math.sqrt, 4.0), partial(os._exit, 3), partial(math.sqrt, 9.0)]
    found = [(things.index(thing), result) for thing, result in in_processes(operator.call, things, 1)]
    first, dead, last = (result for _, result in sorted(found, key=lambda each: each[0]))
    assert (first, last) == (2.0, 3.0)
    assert isinstance(dead, BrokenProcessPool)


@pytest.fixture
def calls(monkeypatch):
    """What is measured, without other processes."""
    made = []

    def here(function, things, workers):
        for thing in things:
            made.append((thing.group, thing.path.stem, thing.seed))
            died = BrokenProcessPool("it died") if thing.seed == 13 else None
            yield thing, died or function(thing)

    monkeypatch.setattr(jobs_module, "in_processes", here)
    return made


def test_what_is_recorded_is_not_measured_again(folder, tmp_path, calls):
    records, log = Records(tmp_path / "out"), Console(quiet=True)
    paths = find_tables(folder)
    measure_jobs(records, jobs_of({"norm": Norm()}, paths, [0], log), 1, log)
    assert len(calls) == 2
    measure_jobs(records, jobs_of({"norm": Norm()}, paths, [0, 1], log), 1, log)
    assert [call[2] for call in calls] == [0, 0, 1, 1]
    measure_jobs(records, jobs_of({"norm": Norm(version=1)}, paths, [0], log), 1, log)
    assert len(calls) == 6
    measure_jobs(records, jobs_of({"norm": Norm(version=1)}, paths, [0], log), 1, log, again=True)
    assert len(calls) == 8
    (one, *_) = records.read("norm")
    assert (one.name, one.seed, one.settings["detector"]) == ("set-0", 0, {"version": 1})
    assert one.seconds["all"] == pytest.approx(one.seconds["fit"] + one.seconds["score"], rel=1e-4)


def test_errors_and_dead_processes_are_recorded(folder, tmp_path, calls):
    records, log = Records(tmp_path / "out"), Console(quiet=True)
    paths = find_tables(folder)
    measure_jobs(records, jobs_of({"a": Norm(broken=True), "b": Norm()}, paths[:1], [0, 13], log), 1, log)
    assert len(calls) == 4
    assert records.read("a")[0].rows[0]["error"].startswith("ValueError")
    fine, died = records.read("b")
    assert fine.rows[0]["auroc"] == 1.0
    assert died.rows[0]["error"] == "the process died: BrokenProcessPool"
    assert died.rows[0]["columns"] == fine.rows[0]["columns"]


@pytest.mark.parametrize("share", [None, 0.1])
def test_the_share_of_anomalies_is_told(folder, share):
    TOLD.clear()
    assert measure(Job("norm", folder / "set-0.npz", 0, Norm(), share)).row["contaminated"] == share
    assert set(TOLD) == {share}


def test_contaminated_tables_are_groups_of_their_own(folder, tmp_path, calls, monkeypatch):
    monkeypatch.setattr(jobs_module, "contaminated_shares", lambda _: {"set-1": 0.1})
    records, log = Records(tmp_path / "out"), Console(quiet=True)
    jobs = jobs_of({"norm": Norm()}, find_tables(folder), [0], log, contaminated=True)
    measure_jobs(records, jobs, 1, log)
    assert calls == [("contaminated-norm", "set-1", 0)]
    (record,) = records.read("contaminated-norm")
    assert (record.rows[0]["contaminated"], record.rows[0]["rows"]) == (0.1, 33)
