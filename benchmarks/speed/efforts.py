"""Part (j): pictures a second by effort, beside an older commit's detector, by turns."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.places import ROOT
from benchmarks.speed.comparison import faster, more
from benchmarks.speed.sizes import Sizes
from benchmarks.speed.timing import median
from benchmarks.speed.worker import Worker
from dissensus.defaults import FAST, STANDARD, THOROUGH
from dissensus.errors import DissensusError

__all__ = ["OLDER", "measure_efforts"]

OLDER = "0313e6b"
"""The commit whose detector is beside: the last one that had one way to ask."""
BATCH, ROUNDS = 128, 5
SHAPES = {
    "28×28": ([28, 28, 1], 1000, BATCH),
    "32×32×3": ([32, 32, 3], 100, 64),
    "64×64×3": ([64, 64, 3], 48, 16),
}
"""By name: a shape, how many pictures are fitted on (weights make no difference), how many are asked."""
EPOCHS = 10


def measure_efforts(sizes: Sizes, device: torch.device) -> dict[str, Any]:  # noqa: ARG001 a CPU's
    """Pictures a second and milliseconds for one, of every effort and of the older commit."""
    command = [sys.executable, "-m", "benchmarks.speed.effort_process"]
    shapes = dict(list(SHAPES.items())[:1]) if sizes.quick else SHAPES
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        _unpack(OLDER, Path(folder))
        now = stack.enter_context(Worker(command))
        then = stack.enter_context(
            Worker(command, surroundings={"PYTHONPATH": f"{Path(folder) / 'src'}:{ROOT}"})
        )
        measured = [_of_shape(now, then, name, *how) for name, how in shapes.items()]
    lines = []
    for one in measured:
        older = f"commit {OLDER}"
        for effort in (FAST, STANDARD, THOROUGH):
            own = one["efforts"][effort]
            what = f"{one['batch']} pictures of {one['shape']}, {effort}"
            rate, other = one["batch"] / own["batch"], one["batch"] / one["older"]["batch"]
            lines.append(more(what, rate, other, older, "pictures/s").to_dict())
            what = f"one picture of {one['shape']}, {effort}"
            lines.append(faster(what, 1e3 * own["one"], 1e3 * one["older"]["one"], older, "ms").to_dict())
    return {
        "settings": {"older": OLDER, "rounds": ROUNDS, "epochs": EPOCHS},
        "measured": measured,
        "load_average": list(_load()),
        "comparisons": lines,
    }


def _of_shape(
    now: Worker, then: Worker, name: str, shape: list[int], fitted: int, batch: int
) -> dict[str, Any]:
    """Medians over rounds in which everybody has a turn."""
    for worker in (now, then):
        worker.ask("fit", shape=shape, count=fitted, epochs=EPOCHS)
    asked: list[tuple[str, Worker, dict[str, Any]]] = [("older", then, {})]
    asked += [(effort, now, {"effort": effort}) for effort in (FAST, STANDARD, THOROUGH)]
    taken: dict[tuple[str, str], list[float]] = {}
    for number in range(ROUNDS + 1):
        for who, worker, how in asked:
            for kind, count in (("batch", batch), *[("one", 1)] * 5):
                found = worker.ask("seconds", shape=shape, count=count, **how)
                if number:  # the first round makes what the others use
                    taken.setdefault((who, kind), []).append(found)
    medians = {who: {kind: median(taken[who, kind]) for kind in ("batch", "one")} for who, _, _ in asked}
    return {
        "shape": name,
        "batch": batch,
        "older": medians.pop("older"),
        "efforts": medians,
        "spread": {f"{who}, {kind}": np.ptp(own) / median(own) for (who, kind), own in taken.items()},
    }


def _unpack(commit: str, folder: Path) -> None:
    """Lays a commit's files out."""
    found = subprocess.run(["git", "archive", commit, "src"], cwd=ROOT, capture_output=True, check=False)
    if found.returncode:
        raise DissensusError(
            f"the commit {commit} is not in this checkout: fetch it, for it is measured beside"
        )
    with tarfile.open(fileobj=io.BytesIO(found.stdout)) as archive:
        archive.extractall(folder, filter="data")


def _load() -> tuple[float, float, float]:
    import os

    return os.getloadavg()
