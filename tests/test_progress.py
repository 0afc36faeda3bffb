"""The time left is work left over the speed so far, and what was done before does not count as speed."""

import io
from types import SimpleNamespace

import pytest
from rich.console import Console

from dissensus import progress
from dissensus.progress import WorkBar


@pytest.fixture
def clock(monkeypatch):
    """A clock that tests move; the progress bar's alone, for servers of other tests may be running."""
    now = [100.0]
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def bar(total):
    return WorkBar(Console(file=io.StringIO(), force_terminal=True), total)


def left(shown):
    return shown._bar.tasks[0].fields["left"]


def test_half_of_the_work_leaves_as_long_again(clock):
    shown = bar(200.0)
    shown.show(0.0, what="sampling")
    assert left(shown) == ""
    clock[0] += 90
    shown.show(100.0, what="sampling", detail="50/100")
    assert left(shown) == "about 1:30 left"
    assert shown._bar.tasks[0].description == "sampling"
    clock[0] += 90
    shown.show(200.0)
    assert left(shown) == ""


def test_what_an_earlier_run_has_done_is_no_speed(clock):
    shown = bar(100.0)
    shown.show(80.0)
    clock[0] += 10
    shown.show(90.0)
    assert left(shown) == "about 0:10 left"
    assert shown._bar.tasks[0].percentage == 90


def test_no_work_at_all_is_no_error():
    with bar(0.0) as shown:
        shown.show(0.0)
