"""Ctrl-C in a real process, and the same command given again."""

import signal
import subprocess
import sys

import numpy as np
import pytest

from tests import warm_python

# A real fit that stops after its third epoch, says so, and waits for Ctrl-C.
STOPPING = """
import sys
from dissensus.cli.progress import StageProgress
shown = StageProgress.__call__
def stopping(self, stage, done, total):
    shown(self, stage, done, total)
    if (stage, done) == ("sampling", 3):
        print("three epochs are done", flush=True)
        sys.stdin.read()
StageProgress.__call__ = stopping
from dissensus.cli import main
main()
"""


@pytest.mark.slow
def test_a_fit_goes_on_where_ctrl_c_stopped_it(dissensus, tmp_path):
    data = tmp_path / "rows.npy"
    np.save(data, np.random.default_rng(0).normal(size=(60, 3)))

    def command(gate):
        small = ["--epochs", "20", "--draws", "4", "--samples", "2", "--false-alarm-rate", "0.2", "--quiet"]
        return ["fit", str(data), "-o", str(gate), *small]

    process = warm_python.Popen(
        [sys.executable, "-c", STOPPING, *command(tmp_path / "stopped")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    state = tmp_path / ".stopped.partial" / "state.safetensors"
    assert process.stdout.readline() == "three epochs are done\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 130
    assert out == ""
    assert len(err.splitlines()) == 1
    assert "interrupted after epoch 3 of " in err
    assert "the same command" in err
    assert state.exists()
    assert not (tmp_path / "stopped").exists()

    assert dissensus(*command(tmp_path / "stopped")).code == 0
    assert not state.parent.exists()
    assert dissensus(*command(tmp_path / "straight")).code == 0
    for name in ("draws.safetensors", "calibration.safetensors"):
        assert (tmp_path / "stopped" / name).read_bytes() == (tmp_path / "straight" / name).read_bytes()
