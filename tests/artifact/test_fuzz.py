"""A small part of ``tools/fuzz_artifacts.py``; all 10,000 cases are recorded under ``results/fuzz``."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / "tools"
CASES = 300

if not sys.platform.startswith("linux"):
    pytest.skip("limits and measures memory as Linux does", allow_module_level=True)


@pytest.fixture(scope="module")
def fuzzing():
    importlib.import_module("fuzzing.running")
    return importlib.import_module("fuzzing")


@pytest.mark.slow
def test_the_command_writes_a_record(tmp_path):
    record = tmp_path / "fuzz.json"
    command = [
        sys.executable,
        TOOLS / "fuzz_artifacts.py",
        "--first",
        "20000",
        "--cases",
        "2",
        "--output",
        record,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(record.read_text())
    assert found["cases"] == 2
    assert found["findings"] == []


@pytest.mark.slow
def test_mutated_gates_and_inputs_end_in_clear_errors_or_correct_results(fuzzing, tmp_path):
    (tmp_path / "kept").mkdir()
    originals = fuzzing.originals.Originals(tmp_path / "kept")
    (tmp_path / "work").mkdir()
    before = fuzzing.running.tree(tmp_path / "kept")
    # Bombs take seconds to make; tests/inputs has its own.
    outcomes = [
        fuzzing.running.run_case(originals, number, tmp_path / "work")
        for number in range(20_000, 20_000 + CASES)
        if fuzzing.kinds.ORDER[number % 100] != "input: bombs"
    ]
    assert {kind for kind, _ in outcomes} == set(fuzzing.kinds.KINDS) - {"input: bombs"}
    assert {outcome for _, outcome in outcomes} == {"error", "result"}
    assert fuzzing.running.tree(tmp_path / "kept") == before
    assert not list((tmp_path / "work").iterdir())
