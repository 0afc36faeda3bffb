"""Ctrl-C in a real process, and the same command given again."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest


@pytest.mark.slow
def test_a_fit_goes_on_where_ctrl_c_stopped_it(dissensus, tmp_path):
    data = tmp_path / "rows.npy"
    np.save(data, np.random.default_rng(0).normal(size=(60, 3)))

    def command(gate):
        small = ["--epochs", "200", "--draws", "4", "--samples", "2", "--false-alarm-rate", "0.2", "--quiet"]
        return ["fit", str(data), "-o", str(gate), *small]

    process = subprocess.Popen(
        [sys.executable, "-m", "dissensus", *command(tmp_path / "stopped")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    state = tmp_path / ".stopped.partial" / "state.safetensors"
    deadline = time.monotonic() + 600
    while not state.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 130
    assert out == ""
    assert len(err.splitlines()) == 1
    assert "interrupted after epoch" in err
    assert "the same command" in err
    assert state.exists()
    assert not (tmp_path / "stopped").exists()

    assert dissensus(*command(tmp_path / "stopped")).code == 0
    assert not state.parent.exists()
    assert dissensus(*command(tmp_path / "straight")).code == 0
    for name in ("draws.safetensors", "calibration.safetensors"):
        assert (tmp_path / "stopped" / name).read_bytes() == (tmp_path / "straight" / name).read_bytes()
