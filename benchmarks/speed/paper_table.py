"""Part (i): the paper's table 1 with one seed, its first row and the whole, with the start of a process."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from benchmarks.places import ROOT
from benchmarks.records import Records
from benchmarks.speed.comparison import faster
from benchmarks.speed.sizes import Sizes
from dissensus.errors import DissensusError

__all__ = ["measure_table", "measure_table_row"]

ROW = "fashion-mnist-vs-mnist"
ROW_GOAL, GOAL = 60.0, 600.0  # seconds


def measure_table_row(sizes: Sizes, device: torch.device) -> dict[str, Any]:
    """Seconds of ``python -m benchmarks paper`` for one benchmark and the settled preset."""
    options = ["--benchmark", ROW, "--preset", "settled"]
    return _measured(f"table 1, {ROW}, all six methods, one seed", options, ROW_GOAL, sizes, device)


def measure_table(sizes: Sizes, device: torch.device) -> dict[str, Any]:
    """Seconds of ``python -m benchmarks paper`` for all benchmarks and both presets."""
    return _measured("the whole of table 1, both presets, one seed", [], GOAL, sizes, device)


def _measured(
    name: str, options: Sequence[str], goal: float, sizes: Sizes, device: torch.device
) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks", "paper", *options]
        command += ["--seeds", "0", "--device", device.type, "--output", folder]
        command += ["--cache", f"{folder}/cache"]  # nothing may be there already
        command += ["--quick"] if sizes.quick else []
        started = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
        took = time.perf_counter() - started
        if done.returncode:
            said = " ".join((done.stdout + done.stderr).split())
            raise DissensusError(f"python -m benchmarks paper failed: {said or 'it said nothing'}")
        records = list(Records(Path(folder), quick=sizes.quick).all())
    return {
        "options": [*options, "--seeds", "0"],
        "records": len(records),
        # Runs that are trained together have the same seconds.
        "runs": {f"{group}, {record.name}": dict(record.seconds) for group, record in records},
        "comparisons": [faster(name, took, goal, "goal").to_dict()],
    }
