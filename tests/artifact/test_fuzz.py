"""A small part of ``tools/fuzz_artifacts.py``; all 10,000 cases are recorded under ``results/fuzz``."""

import importlib.util
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "fuzz_artifacts.py"
CASES = 300

if not sys.platform.startswith("linux"):
    pytest.skip("limits and measures memory as Linux does", allow_module_level=True)


@pytest.fixture(scope="module")
def fuzz():
    spec = importlib.util.spec_from_file_location("fuzz_artifacts", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_mutated_gates_and_inputs_end_in_clear_errors_or_correct_results(fuzz, tmp_path):
    (tmp_path / "kept").mkdir()
    originals = fuzz.Originals(tmp_path / "kept")
    (tmp_path / "work").mkdir()
    before = fuzz.tree(tmp_path / "kept")
    outcomes = [
        fuzz.run_case(originals, number, tmp_path / "work")
        for number in range(20_000, 20_000 + CASES)
        if fuzz.ORDER[number % 100] != "input: bombs"  # they take seconds to make; tests/data has its own
    ]
    assert {kind for kind, _ in outcomes} == set(fuzz.KINDS) - {"input: bombs"}
    assert {outcome for _, outcome in outcomes} == {"error", "result"}
    assert fuzz.tree(tmp_path / "kept") == before
    assert not list((tmp_path / "work").iterdir())
