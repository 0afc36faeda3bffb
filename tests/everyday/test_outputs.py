"""Places that cannot be written to, and disks that fill up: told before the work, or with the right code."""

import errno
import os
from pathlib import Path

import pytest

from tests.everyday.conftest import penguins, text_of

unix = pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="this system has no /proc")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "penguins.csv"
    path.write_text(text_of(penguins(60)))
    return path


@unix
@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "{data}", "-o", "/proc/gate"],
        ["fit", "{data}", "-o", "{folder}/gate", "--checkpoint", "/proc/kept"],
        ["demo", "-o", "/proc/demo"],
        ["report", "{gate}", "{data}", "-o", "/proc/page.html"],
        ["confirm", "{gate}", "{data}", "--normal", "-o", "/proc/gate"],
    ],
    ids=["fit", "checkpoint", "demo", "report", "confirm"],
)
def test_places_are_tried_before_any_work(dissensus, penguin_gate, table, tmp_path, monkeypatch, arguments):
    def work(*_, **__):
        pytest.fail("the work was begun")

    for method in ("fit", "load"):
        monkeypatch.setattr(f"dissensus.Detector.{method}", work)
    answer = dissensus(*(a.format(data=table, folder=tmp_path, gate=penguin_gate) for a in arguments))
    assert answer.code == 2, answer.err
    assert len(answer.err.splitlines()) == 1
    assert "/proc" in answer.err
    assert [path.name for path in tmp_path.iterdir()] == ["penguins.csv"]


def test_a_disk_that_fills_up_while_a_fit_is_kept(dissensus, table, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("dissensus.posterior.checkpoint.save_file", full)
    answer = dissensus("fit", table, "-o", tmp_path / "gate", "--epochs", "2", "--draws", "2")
    assert answer.code == 3, answer.err
    assert "free some space" in answer.err
    assert not (tmp_path / "gate").exists()


def test_a_disk_that_is_full_before_a_fit(dissensus, table, tmp_path, monkeypatch):
    def full(self, *_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self))

    monkeypatch.setattr(Path, "mkdir", full)
    answer = dissensus("fit", table, "-o", tmp_path / "gate", "--checkpoint", tmp_path / "kept")
    assert answer.code == 3, answer.err
    assert "free some space" in answer.err
