"""Part (j): pictures a second by effort, beside an older commit's detector, by turns."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from benchmarks.places import ROOT
from benchmarks.speed.comparison import faster, more
from benchmarks.speed.sizes import Sizes
from benchmarks.speed.timing import median
from benchmarks.speed.worker import Worker
from dissensus.defaults import FAST, STANDARD, THOROUGH
from dissensus.errors import DissensusError

__all__ = ["KINDS", "OLDER", "WAYS", "measure_efforts", "measure_sizes"]

OLDER = "0313e6b"
"""The commit whose detector is beside: the last one that had one way to ask."""
ONES = 3
"""How often a single picture is asked about in a round."""
EPOCHS = 10
KINDS = ("batch", "one", "batch_processor", "one_processor")
WAYS = (("", "", ""), ("_processor", ", of processor time", " of processor time"))
"""By the clock and by processor time: the ends of a kind's name, of what was asked and of a unit."""


class Shape(NamedTuple):
    """Pictures of one size."""

    sides: tuple[int, int, int]
    fitted: int
    """How many the gates are fitted on: weights make no difference."""
    batch: int
    """How many are asked about at once."""
    rounds: int
    efforts: tuple[str, ...]


ALL_EFFORTS = (FAST, STANDARD, THOROUGH)
SHAPES = {
    "28×28": Shape((28, 28, 1), 1000, 128, 5, ALL_EFFORTS),
    "32×32×3": Shape((32, 32, 3), 100, 64, 5, ALL_EFFORTS),
    "64×64×3": Shape((64, 64, 3), 48, 16, 5, ALL_EFFORTS),
}
SIZES = {
    "28×28": Shape((28, 28, 1), 128, 128, 2, (STANDARD,)),
    "64×64×3": Shape((64, 64, 3), 32, 8, 2, (STANDARD,)),
    "128×128×3": Shape((128, 128, 3), 32, 4, 2, (STANDARD,)),
}


def measure_efforts(sizes: Sizes, device: torch.device) -> dict[str, Any]:  # noqa: ARG001 a CPU's
    """Pictures a second and milliseconds for one, of every effort and of the older commit."""
    return _measured(dict(list(SHAPES.items())[:1]) if sizes.quick else SHAPES)


def measure_sizes(sizes: Sizes, device: torch.device) -> dict[str, Any]:  # noqa: ARG001 a CPU's
    """The same of the default effort alone, for pictures up to 128×128."""
    return _measured(dict(list(SIZES.items())[:1]) if sizes.quick else SIZES)


def _measured(shapes: dict[str, Shape]) -> dict[str, Any]:
    """Seconds of processor time are recorded beside those of the clock: on a busy machine they say more."""
    command = [sys.executable, "-m", "benchmarks.speed.effort_process"]
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        _unpack(OLDER, Path(folder))
        now = stack.enter_context(Worker(command))
        then = stack.enter_context(
            Worker(command, surroundings={"PYTHONPATH": f"{Path(folder) / 'src'}:{ROOT}"})
        )
        measured = [_of_shape(now, then, name, shape) for name, shape in shapes.items()]
    return {
        "settings": {"older": OLDER, "epochs": EPOCHS},
        "measured": measured,
        "load_average": list(os.getloadavg()),
        "comparisons": [line for one in measured for line in _compared(one)],
    }


def _of_shape(now: Worker, then: Worker, name: str, shape: Shape) -> dict[str, Any]:
    """Medians over rounds in which everybody has a turn."""
    sides = list(shape.sides)
    for worker in (now, then):
        worker.ask("fit", shape=sides, count=shape.fitted, epochs=EPOCHS)
    asked: list[tuple[str, Worker, dict[str, Any]]] = [("older", then, {})]
    asked += [(effort, now, {"effort": effort}) for effort in shape.efforts]
    taken: dict[tuple[str, str], list[float]] = {}
    for number in range(shape.rounds + 1):
        for who, worker, how in asked:
            for kind, count in (("batch", shape.batch), *[("one", 1)] * ONES):
                found, busy = worker.ask("seconds", shape=sides, count=count, **how)
                if number:  # the first round makes what the others use
                    taken.setdefault((who, kind), []).append(found)
                    taken.setdefault((who, f"{kind}_processor"), []).append(busy)
    medians = {who: {kind: median(taken[who, kind]) for kind in KINDS} for who, _, _ in asked}
    return {
        "shape": name,
        "batch": shape.batch,
        "rounds": shape.rounds,
        "older": medians.pop("older"),
        "efforts": medians,
        "fastest": {f"{who}, {kind}": min(own) for (who, kind), own in taken.items()},
        "spread": {f"{who}, {kind}": np.ptp(own) / median(own) for (who, kind), own in taken.items()},
    }


def _compared(one: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A line for each effort, of many pictures at once and of one, by the clock and by processor time."""
    older, batch = f"commit {OLDER}", one["batch"]
    for effort, own in one["efforts"].items():
        for suffix, per, unit in WAYS:
            many, single = f"batch{suffix}", f"one{suffix}"
            what = f"{batch} pictures of {one['shape']}, {effort}{per}"
            rates = batch / own[many], batch / one["older"][many]
            yield more(what, *rates, older, f"pictures/s{unit}").to_dict()
            what = f"one picture of {one['shape']}, {effort}{per}"
            yield faster(what, 1e3 * own[single], 1e3 * one["older"][single], older, "ms").to_dict()


def _unpack(commit: str, folder: Path) -> None:
    """Lays a commit's files out."""
    found = subprocess.run(["git", "archive", commit, "src"], cwd=ROOT, capture_output=True, check=False)
    if found.returncode:
        raise DissensusError(
            f"the commit {commit} is not in this checkout: fetch it, for it is measured beside"
        )
    with tarfile.open(fileobj=io.BytesIO(found.stdout)) as archive:
        archive.extractall(folder, filter="data")
