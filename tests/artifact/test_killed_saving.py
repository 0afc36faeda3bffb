"""A process killed by SIGKILL at every step of a save: the old gate or the new one is there, never a mix."""

import os
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from dissensus import BayesianVAE, atomic
from tests import warm_python

SCRIPT = Path(__file__).with_name("kill_run.py")
SOURCE = Path(__file__).parents[2] / "src"


@pytest.fixture(scope="module")
def other(rows):
    settings = {"epochs": 2, "draws": 2, "samples": 2, "false_alarm_rate": 0.2}
    return BayesianVAE(**settings, random_state=1, device="cpu").fit(rows)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.parametrize("what", ["save", "save-without-swap", "recalibrate"])
def test_killed_at_any_step_the_old_or_the_new_gate_is_there(gate, other, tmp_path, what):
    gate.save(tmp_path / "one")
    other.save(tmp_path / "other")
    done = warm_python.run(
        [sys.executable, str(SCRIPT), what, str(tmp_path / "gate")],
        env={**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    steps, after_the_change = map(int, done.stdout.split())
    assert 0 < after_the_change < steps  # the sweep began before the gate was replaced and went beyond it


@pytest.fixture
def moved_aside(gate, tmp_path):
    """As a process leaves it that dies between two moves, where folders cannot be swapped."""
    gate.save(tmp_path / "gate")
    (tmp_path / "gate").rename(tmp_path / ".gate.previous")
    return tmp_path / "gate"


def test_a_gate_that_was_moved_aside_is_found_and_brought_back(moved_aside, gate, other, rows):
    np.testing.assert_array_equal(
        BayesianVAE.load(moved_aside, device="cpu").score_samples(rows), gate.score_samples(rows)
    )
    other.save(moved_aside)
    assert [path.name for path in moved_aside.parent.iterdir()] == ["gate"]


def test_a_failed_save_after_a_death_keeps_the_gate(moved_aside, other, monkeypatch):
    monkeypatch.setattr("dissensus.persistence.artifact.save_tensors", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        other.save(moved_aside)
    assert BayesianVAE.load(moved_aside, device="cpu")


def test_without_a_swap_two_moves_do(saved, other, rows, monkeypatch):
    monkeypatch.setattr("dissensus.atomic._swapped", lambda *_: False)
    other.save(saved)
    np.testing.assert_array_equal(
        BayesianVAE.load(saved, device="cpu").score_samples(rows), other.score_samples(rows)
    )
    assert [path.name for path in saved.parent.iterdir()] == ["gate"]


def test_what_a_dead_process_left_is_removed_after_a_day(saved, gate):
    new, old = (saved.with_name(f".gate.{age}.tmp") for age in ("new", "old"))
    for left in (new, old):
        (left / "new").mkdir(parents=True)
        (left / "new" / "draws.safetensors").write_bytes(b"half")
    yesterday = time.time() - atomic.ABANDONED - 60
    os.utime(old, (yesterday, yesterday))
    gate.save(saved)
    assert new.is_dir()  # another process may be at it
    assert not old.exists()


def test_a_link_goes_on_naming_the_gate(saved, other, rows):
    link = saved.with_name("current")
    link.symlink_to(saved.name)
    other.save(link)
    assert link.is_symlink()
    np.testing.assert_array_equal(
        BayesianVAE.load(saved, device="cpu").score_samples(rows), other.score_samples(rows)
    )


def test_a_gate_that_is_replaced_while_it_is_read_is_read_again(saved, other, rows, monkeypatch):
    from dissensus.persistence import reading

    check, calls = reading._check_file, []

    def replaced_in_between(path, digest):
        calls.append(path)
        if len(calls) == 2:
            other.save(saved)
        check(path, digest)

    monkeypatch.setattr(reading, "_check_file", replaced_in_between)
    found = BayesianVAE.load(saved, device="cpu").score_samples(rows)
    np.testing.assert_array_equal(found, other.score_samples(rows))
