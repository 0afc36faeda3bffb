"""Part (m): pictures a second beside anomalib's quickest detectors, by turns.

Both sides take pictures of one size and have random or hardly trained networks: what is compared is time, and
nothing is said of what either finds.
"""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from typing import Any

import torch

from benchmarks.speed.comparison import faster, more
from benchmarks.speed.efforts import KINDS, WAYS
from benchmarks.speed.peers import ANOMALIB, PeersMissingError, peer_command, peer_python
from benchmarks.speed.sizes import Sizes
from benchmarks.speed.timing import median
from benchmarks.speed.worker import Worker
from dissensus.defaults import FAST, STANDARD

__all__ = ["measure_anomalib"]

MODELS = ("DFKDE", "PaDiM")
EFFORTS = (FAST, STANDARD)
SIDES = {64: 16, 128: 8}
"""Of colour pictures, and how many are asked about at once."""
FITTED, EPOCHS, ROUNDS = 48, 10, 5


def measure_anomalib(sizes: Sizes, device: torch.device) -> dict[str, Any]:  # noqa: ARG001 a CPU's
    """Medians over rounds in which everybody has a turn; nothing where anomalib cannot be had."""
    try:
        python = peer_python(packages=ANOMALIB)
    except PeersMissingError as error:
        return {"notes": [str(error)], "comparisons": []}
    sides = dict(list(SIDES.items())[:1]) if sizes.quick else SIDES
    with ExitStack() as stack:
        ours = stack.enter_context(Worker([sys.executable, "-m", "benchmarks.speed.effort_process"]))
        command = peer_command(python, "anomalib_process.py")
        theirs = stack.enter_context(Worker(command, surroundings={"PYTHONPATH": ""}))
        measured = [_of_side(ours, theirs, side, 1 if sizes.quick else ROUNDS) for side in sides]
    return {
        "settings": {
            "fitted": FITTED,
            "epochs": EPOCHS,
            "rounds": ROUNDS,
            "threads": torch.get_num_threads(),
        },
        "measured": measured,
        "load_average": list(os.getloadavg()),
        "comparisons": [line for one in measured for line in _compared(one)],
    }


def _of_side(ours: Worker, theirs: Worker, side: int, rounds: int) -> dict[str, Any]:
    shape = [side, side, 3]
    ours.ask("fit", shape=shape, count=FITTED, epochs=EPOCHS)
    versions = {theirs.ask("fit", model=model, side=side) for model in MODELS}
    asked: list[tuple[str, Worker, dict[str, Any]]] = [
        *((model, theirs, {"model": model, "side": side}) for model in MODELS),
        *((effort, ours, {"effort": effort, "shape": shape}) for effort in EFFORTS),
    ]
    taken: dict[tuple[str, str], list[float]] = {}
    for number in range(rounds + 1):
        for who, worker, how in asked:
            for kind, count in (("batch", SIDES[side]), ("one", 1)):
                found, busy = worker.ask("seconds", count=count, **how)
                if number:  # the first round makes what the others use
                    taken.setdefault((who, kind), []).append(found)
                    taken.setdefault((who, f"{kind}_processor"), []).append(busy)
    return {
        "side": side,
        "batch": SIDES[side],
        "version": versions.pop(),
        "seconds": {who: {kind: median(taken[who, kind]) for kind in KINDS} for who, _, _ in asked},
    }


def _compared(one: dict[str, Any]) -> list[dict[str, Any]]:
    """Each effort beside each of anomalib's detectors, of many pictures at once and of one."""
    lines, side, batch = [], one["side"], one["batch"]
    for effort in EFFORTS:
        own = one["seconds"][effort]
        for model in MODELS:
            other, name = one["seconds"][model], f"anomalib's {model}"
            for suffix, per, unit in WAYS:
                many, single = f"batch{suffix}", f"one{suffix}"
                what = f"{batch} pictures of {side}×{side}×3, {effort}{per}"
                rates = batch / own[many], batch / other[many]
                lines.append(more(what, *rates, name, f"pictures/s{unit}"))
                what = f"one picture of {side}×{side}×3, {effort}{per}"
                lines.append(faster(what, 1e3 * own[single], 1e3 * other[single], name, "ms"))
    return [line.to_dict() for line in lines]
