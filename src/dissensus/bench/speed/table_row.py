"""Part (i): the first benchmark of the paper's table 1, all six methods, from the start of a process on."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from dissensus.bench.speed.comparison import faster
from dissensus.bench.speed.sizes import Sizes
from dissensus.errors import DissensusError
from dissensus.evaluation import read_records

__all__ = ["measure_table_row"]

BENCHMARK = "fashion-mnist-vs-mnist"
GOAL = 60.0  # seconds


def measure_table_row(sizes: Sizes, device: torch.device) -> dict[str, Any]:
    """Seconds of ``dissensus bench paper`` for one benchmark, one seed and the converged preset."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "dissensus", "bench", "paper", "--benchmark", BENCHMARK]
        command += ["--preset", "converged", "--seeds", "0", "--device", device.type, "--output", folder]
        command += ["--quick"] if sizes.quick else []
        started = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        took = time.perf_counter() - started
        if done.returncode:
            said = " ".join((done.stdout + done.stderr).split())
            raise DissensusError(f"dissensus bench paper failed: {said or 'it said nothing'}")
        records = read_records(Path(folder) / "records").values()
        methods = {record["method"]: record["seconds"] for record in records}
    return {
        "settings": {"benchmark": BENCHMARK, "preset": "converged", "seed": 0, "quick": sizes.quick},
        "seconds_by_method": methods,
        "comparisons": [
            faster(f"table 1, {BENCHMARK}, all six methods, one seed", took, GOAL, "goal").to_dict()
        ],
    }
