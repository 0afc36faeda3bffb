"""A real process, killed with SIGKILL at random points until it finishes, ends with the same bits."""

import importlib.util
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

SCRIPT = Path(__file__).with_name("killed_run.py")
SOURCE = Path(__file__).parents[2] / "src"


def load_script():
    spec = importlib.util.spec_from_file_location("killed_run", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_killed_at_random_points_ends_with_the_same_bits(tmp_path):
    script = load_script()
    chance = random.Random(0)
    planned = 5
    landed = 0
    epochs = 0
    for attempt in range(planned + 1):
        process = subprocess.Popen(
            [sys.executable, str(SCRIPT), str(tmp_path)],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"},
        )
        with process:
            if attempt < planned:
                # A few epochs, then some way into the next one: into its steps, its draws or its state.
                for _ in range(chance.randint(1, script.EPOCHS // (2 * planned))):
                    epochs += process.stdout.readline() == b"epoch\n"
                time.sleep(chance.uniform(0, 0.01))
                process.kill()
            epochs += process.stdout.read().count(b"epoch\n")
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL
        landed += 1
    assert process.returncode == 0
    assert landed >= 3
    # Resumed, not begun anew: an epoch that was reported had been saved and is never run again.
    assert epochs <= script.EPOCHS
    assert not list(tmp_path.glob("**/.*.tmp"))
    drawn, expected = load_file(tmp_path / "draws.safetensors"), script.finish(None)
    assert drawn.keys() == expected.keys()
    assert len(expected["variant-1/rhat"]) > 0
    assert all(torch.equal(drawn[name], expected[name]) for name in expected)
