"""A small part of ``python -m benchmarks checks --only fuzz``; all 10,000 cases are recorded."""

import subprocess
import sys

import pytest

from benchmarks.checks import fuzz
from benchmarks.checks.fuzzing.kinds import KINDS, ORDER
from benchmarks.checks.fuzzing.originals import Originals
from benchmarks.checks.fuzzing.running import run_case, tree
from benchmarks.records import Record
from tests import warm_python

CASES = 300

if not sys.platform.startswith("linux"):
    pytest.skip("limits and measures memory as Linux does", allow_module_level=True)


@pytest.mark.slow
def test_cases_run_in_a_process_of_their_own(monkeypatch):
    monkeypatch.setattr(fuzz, "subprocess", warm_python)
    found = fuzz._measured(20_000, 2, lambda _: None)
    assert sum(row["error"] + row["result"] for row in found.rows) == 2
    assert found.about["findings"] == []
    assert found.about["peak_mib_above_start"] >= 0


def test_a_process_that_dies_is_a_finding(monkeypatch):
    dead = subprocess.CompletedProcess([], -9, "", "")
    monkeypatch.setattr(fuzz.subprocess, "run", lambda *_, **__: dead)
    found = fuzz._measured(0, 5000, lambda _: None)
    assert [(one["case"], one["found"]) for one in found.about["findings"]] == [(0, -9), (2500, -9)]
    record = Record("mutations", None, {"cases": 5000}, found.rows, {}, found.about)
    said = fuzz.sentences([record])
    assert said[0].endswith("2 findings.")
    assert len(said) == 3


@pytest.mark.slow
def test_mutated_gates_and_inputs_end_in_clear_errors_or_correct_results(tmp_path):
    (tmp_path / "kept").mkdir()
    originals = Originals(tmp_path / "kept")
    (tmp_path / "work").mkdir()
    before = tree(tmp_path / "kept")
    # Bombs take seconds to make; tests/inputs has its own.
    outcomes = [
        run_case(originals, number, tmp_path / "work")
        for number in range(20_000, 20_000 + CASES)
        if ORDER[number % 100] != "input: bombs"
    ]
    assert {kind for kind, _ in outcomes} == set(KINDS) - {"input: bombs"}
    assert {outcome for _, outcome in outcomes} == {"error", "result"}
    assert tree(tmp_path / "kept") == before
    assert not list((tmp_path / "work").iterdir())
