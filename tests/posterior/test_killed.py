"""A real process, killed with SIGKILL at several steps until it finishes, ends with the same bits."""

import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from tests import warm_python

SCRIPT = Path(__file__).with_name("killed_run.py")
SOURCE = Path(__file__).parents[2] / "src"


def load_script():
    spec = importlib.util.spec_from_file_location("killed_run", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_killed_at_many_steps_it_ends_with_the_same_bits(tmp_path):
    script = load_script()
    epochs = 0
    for steps in (20, 61, 34, 47, 53, None):  # into an epoch, a draw or a state; the last one is left alone
        done = warm_python.run(
            [sys.executable, str(SCRIPT), str(tmp_path), *([] if steps is None else [str(steps)])],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"},
            check=False,
        )
        epochs += done.stdout.count(b"epoch\n")
        assert done.returncode == (0 if steps is None else -signal.SIGKILL)
        assert steps is None or 0 < epochs < script.EPOCHS
    # Resumed, not begun anew: an epoch that was reported had been saved and is never run again.
    assert epochs <= script.EPOCHS
    assert not list(tmp_path.glob("**/.*.tmp"))
    drawn, expected = load_file(tmp_path / "draws.safetensors"), script.finish(None)
    assert drawn.keys() == expected.keys()
    assert len(expected["variant-1/rhat"]) > 0
    assert all(torch.equal(drawn[name], expected[name]) for name in expected)
