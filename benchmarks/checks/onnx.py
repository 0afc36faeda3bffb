"""Whether a gate that was exported to ONNX says what the gate says, and how long it takes over a picture.

A gate is fitted for a few epochs on some of the clothes that come with the package, for what its weights are
makes no difference, and exported for each effort that can be. File and gate are asked about 10,000 pictures:
clothes, and all made-up outliers of clothes. Recorded are the largest difference of two scores, how many
verdicts are the same, and the milliseconds for one picture, by turns, by onnxruntime on one thread and by the
gate.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.checks.asked import Asked
from benchmarks.pieces import Found, Piece
from benchmarks.records import Record
from dissensus.defaults import FAST, STANDARD
from dissensus.detector import BayesianVAE
from dissensus.export import agreement, export_gate, input_of, session_of
from dissensus.inputs import MADE_UP, load_sample, make_up

__all__ = ["pieces", "sentences"]

SETTINGS = {"fitted": 1000, "epochs": 12, "inputs": 10_000, "threads": 1}
QUICK = {"fitted": 100, "epochs": 10, "inputs": 200}
ONE = 50  # single pictures that are timed


def pieces(asked: Asked) -> Iterator[Piece]:
    """One fit."""
    settings = {**SETTINGS, **(QUICK if asked.quick else {})}
    yield Piece("onnx", "clothes", settings, partial(_measured, settings), 0)


def _measured(settings: dict[str, int], say: Callable[[str], None]) -> Found:
    images = load_sample()[0].images
    gate = BayesianVAE(random_state=0, epochs=settings["epochs"], device="cpu")
    gate.fit(images[: settings["fitted"]])
    asked = _pictures(images[settings["fitted"] :], settings["inputs"])
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for effort in (FAST, STANDARD):
            say(f"comparing {effort}")
            gate.effort, path = effort, Path(folder) / f"{effort}.onnx"
            export_gate(gate, path)
            found = agreement(gate, path, asked)
            times = _milliseconds(gate, path, asked, settings["threads"])
            rows.append({"effort": effort, **found._asdict(), "bytes": path.stat().st_size, **times})
    return Found(rows, {"kinds": ["clothes", *MADE_UP]})


def _pictures(images: NDArray[np.uint8], count: int) -> NDArray[np.uint8]:
    """As many of each kind, (count, H, W, 1); images serve again where there are too few."""
    each = -(-count // (1 + len(MADE_UP)))
    inliers = images[np.arange(each) % len(images)]
    return np.concatenate([inliers, *(make_up(kind, inliers) for kind in MADE_UP)])[:count, ..., None]


def _milliseconds(gate: BayesianVAE, path: Path, asked: NDArray[np.uint8], threads: int) -> dict[str, float]:
    session = session_of(path, threads=threads)
    ways: dict[str, Callable[[NDArray[np.uint8]], object]] = {
        "onnxruntime_ms": lambda one: session.run(None, {input_of(gate): one}),
        "gate_ms": gate.decide,
    }
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(ONE):
        for name, way in ways.items():
            one = asked[number : number + 1]
            began = time.perf_counter()
            way(one)
            taken[name].append(1e3 * (time.perf_counter() - began))
    return {name: float(statistics.median(own)) for name, own in taken.items()}


def sentences(records: list[Record]) -> list[str]:
    """One sentence an effort."""
    return [
        f"{row['effort']}: over {row['inputs']:,} pictures two scores differ by at most "
        f"{row['largest_difference']:.1g} and {row['same_verdicts']:,} verdicts are the same; a picture "
        f"takes {row['onnxruntime_ms']:.1f} ms by onnxruntime and {row['gate_ms']:.1f} ms by the gate."
        for record in records
        for row in record.rows
    ]
