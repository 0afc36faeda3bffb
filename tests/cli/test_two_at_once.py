"""Two commands that write to one place: the second is refused before any work, and told who is at it."""

import os
import platform
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from dissensus import BayesianVAE, lock
from dissensus.errors import InUseError
from tests import warm_python

SMALL = ["--epochs", "4", "--draws", "4", "--samples", "2", "--latent-size", "2", "--false-alarm-rate", "0.5"]
HOLDER = """
import sys
from dissensus.lock import Claim
with Claim(sys.argv[1], inside=sys.argv[2:] == ["inside"]):
    print("held", flush=True)
    sys.stdin.read()
"""
# A real fit that stops before it reads its inputs, until its stdin is closed.
WAITING = """
import sys
import dissensus.cli.fit as fit
opened = fit._open
def wait(*arguments, **named):
    print("held", flush=True)
    sys.stdin.read()
    return opened(*arguments, **named)
fit._open = wait
from dissensus.cli import main
main()
"""


@pytest.fixture
def start():
    """Starts a process that says when it holds its place, and goes on when its stdin is closed."""
    started = []

    def begin(code, *arguments):
        process = warm_python.Popen(
            [sys.executable, "-c", code, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        started.append(process)
        assert process.stdout.readline().strip() == "held", process.stderr.read()
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def refused(answer, process):
    assert (answer.code, answer.out) == (2, "")
    assert f"is being written to by process {process.pid} on {platform.node()} since " in answer.err
    assert len(answer.err.splitlines()) == 1


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_of_two_fits_into_one_gate_the_first_is_left_alone(fit, start, images_file, tmp_path):
    first = start(WAITING, "fit", images_file, "-o", tmp_path / "gate", *SMALL, "--seed", 7)
    (tmp_path / "link").symlink_to("gate")
    for name in ("gate", "link"):
        refused(fit(images_file, tmp_path / name, "--seed", 1), first)
    refused(fit(tmp_path / "none.npy", tmp_path / "gate"), first)  # before the data are looked at
    _, err = first.communicate()
    assert (first.returncode, err) == (0, "")
    assert BayesianVAE.load(tmp_path / "gate").seed_ == 7
    assert names(tmp_path) == ["gate", "link"]


def test_a_killed_fit_is_followed_without_a_word(fit, start, images_file, tmp_path):
    first = start(WAITING, "fit", images_file, "-o", tmp_path / "gate", *SMALL, "--seed", 7)
    first.kill()
    first.wait()
    answer = fit(images_file, tmp_path / "gate", "--seed", 1)
    assert (answer.code, answer.err) == (0, "")
    assert names(tmp_path) == ["gate"]


def test_a_checkpoint_has_one_run(fit, start, images_file, tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    holder = start(HOLDER, kept, "inside")
    refused(fit(tmp_path / "none.npy", tmp_path / "gate", "--checkpoint", kept), holder)
    with pytest.raises(InUseError, match=f"process {holder.pid} "):
        BayesianVAE(epochs=2, draws=2).fit(tmp_path / "none.npy", checkpoint=kept)
    holder.communicate()
    assert fit(images_file, tmp_path / "gate", "--checkpoint", kept).code == 0
    assert ".lock" not in names(kept)


def test_other_writers_of_a_gate_are_refused_too(dissensus, fit, start, images_file, tmp_path, monkeypatch):
    monkeypatch.setattr("dissensus.persistence.artifact.PATIENCE", 0.0)
    gate = tmp_path / "gate"
    assert fit(images_file, gate).code == 0
    before = (gate / "config.json").read_bytes()
    holder = start(HOLDER, gate)
    refused(dissensus("calibrate", gate, tmp_path / "none.npy"), holder)
    refused(dissensus("confirm", gate, tmp_path / "none.npy", "--normal"), holder)
    refused(dissensus("join", tmp_path / "none", tmp_path / "neither", "-o", gate), holder)
    with pytest.raises(InUseError, match=f"process {holder.pid} "):
        BayesianVAE.load(gate).save(gate)
    assert dissensus("score", gate, images_file, "--json").code == 0  # reading takes no lock
    assert (gate / "config.json").read_bytes() == before
    holder.communicate()
    assert dissensus("calibrate", gate, images_file).code == 0
    assert names(tmp_path) == ["gate"]


def test_a_save_waits_for_another_save(fit, start, images_file, tmp_path, monkeypatch):
    monkeypatch.setattr("dissensus.persistence.artifact.PATIENCE", 600.0)
    waiting, sleep = threading.Event(), time.sleep
    clock = SimpleNamespace(sleep=lambda seconds: waiting.set() or sleep(seconds), monotonic=time.monotonic)
    monkeypatch.setattr(lock, "time", clock)
    gate = tmp_path / "gate"
    assert fit(images_file, gate).code == 0
    detector, holder = BayesianVAE.load(gate), start(HOLDER, gate)
    saving = threading.Thread(target=detector.save, args=(gate,))
    saving.start()
    assert waiting.wait(600)
    holder.communicate()
    saving.join()
    assert names(tmp_path) == ["gate"]
    np.testing.assert_array_equal(BayesianVAE.load(gate).calibration_scores_, detector.calibration_scores_)


def test_rows_have_one_writer(dissensus, gate, start, images_file, tmp_path):
    holder = start(HOLDER, tmp_path / "rows.csv")
    refused(dissensus("score", gate, images_file, "-o", tmp_path / "rows.csv"), holder)
    holder.communicate()
    assert dissensus("score", gate, images_file, "-o", tmp_path / "rows.csv").code == 0
    assert names(tmp_path) == ["rows.csv"]
