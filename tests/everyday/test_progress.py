"""Long work says where it is: on a terminal, in a log, and to programs."""

import io
import logging
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from dissensus import Detector, progress
from dissensus.cli import progress as of_commands
from dissensus.detector import streaming
from dissensus.detector.streaming import decide_stream
from dissensus.inputs import open_stream
from tests.everyday.conftest import TINY, penguins, text_of


@pytest.fixture
def clock(monkeypatch):
    """A clock that every look at it sets forward by two seconds."""
    now = [0.0]

    def look():
        now[0] += 2.0
        return now[0]

    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=look))
    monkeypatch.setattr(progress, "EVERY", 5.0)
    return now


@pytest.fixture
def log(monkeypatch):
    """What the commands print where there is no terminal."""
    text = io.StringIO()
    monkeypatch.setattr(of_commands, "messages", lambda: Console(file=text, highlight=False, width=80))
    return text


def test_a_fit_in_a_log_prints_a_line_every_few_seconds(dissensus, clock, log, tmp_path):
    (tmp_path / "penguins.csv").write_text(text_of(penguins(240)))
    options = ["-o", tmp_path / "gate", "--epochs", "12", "--draws", "2"]
    answer = dissensus("fit", tmp_path / "penguins.csv", *options)
    assert answer.code == 0, answer.err
    lines = log.getvalue().splitlines()
    assert 2 <= len(lines) <= 20
    assert all(line.startswith(("sampling ", "calibrating")) and "%" in line for line in lines)
    assert "left" in lines[1]


@pytest.mark.parametrize("option", [["--quiet"], []])
def test_what_is_done_in_a_moment_prints_nothing(dissensus, penguin_gate, log, tmp_path, option):
    (tmp_path / "penguins.csv").write_text(text_of(penguins(40)))
    assert dissensus("score", penguin_gate, tmp_path / "penguins.csv", *option).code == 0
    assert log.getvalue() == ""


def test_scoring_tells_how_far_it_is_within_its_first_chunk(picture_gate):
    gate, told = Detector.load(picture_gate, device="cpu"), []
    gate.set_params(effort="thorough")  # the others are done in one go
    pictures = np.zeros((64, 8, 8), np.uint8)
    rows = decide_stream(
        gate, open_stream(pictures, gate.preprocessor_), on_progress=lambda *call: told.append(call)
    )
    assert sum(map(len, rows)) == 64
    assert {stage for stage, _, _ in told} == {"scoring"}
    done = [done for _, done, _ in told]
    assert (done[0], done[-1]) == (0, streaming.WHOLE)
    assert done == sorted(done)
    assert len(set(done)) > 2


def test_a_program_may_listen_to_logging(caplog):
    table = np.random.default_rng(0).normal(size=(140, 3))
    with caplog.at_level(logging.INFO, logger="dissensus"):
        gate = Detector(**TINY).fit(table)
        gate.recalibrate(table[:40])
    said = [record.getMessage() for record in caplog.records if record.levelno == logging.INFO]
    assert any(message.startswith("sampling: ") for message in said)
    assert said[-1].startswith("calibrating: ")


def test_nobody_hears_who_does_not_listen(caplog):
    with caplog.at_level(logging.WARNING, logger="dissensus"):
        Detector(**TINY).fit(np.random.default_rng(0).normal(size=(140, 3)))
    assert caplog.records == []
