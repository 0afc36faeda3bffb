"""How many colour pictures of 32×32 each model of pictures scores a second here, with each effort.

What its weights are makes no difference, so each model is fitted to made-up pictures for as few epochs as its
draws take. Recorded are pictures a second in batches, by the clock, and the milliseconds of processor time
that a picture takes, which other work on the machine hardly changes.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from statistics import median
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.checks.asked import Asked
from benchmarks.pieces import Found, Piece
from benchmarks.records import Record
from dissensus import Detector
from dissensus.detector.effort import EFFORTS

__all__ = ["pieces", "sentences"]

MODELS = ("vae", "deep-vae", "pixelcnn")
SETTINGS: Mapping[str, int] = {"fitted": 80, "epochs": 10, "batch": 64, "batch_thorough": 16, "rounds": 3}
QUICK = {"batch": 8, "batch_thorough": 2, "rounds": 1}


def pieces(asked: Asked) -> Iterator[Piece]:
    """One fit for each model."""
    settings = {**SETTINGS, **(QUICK if asked.quick else {})}
    for model in MODELS:
        yield Piece("in_colour", model, settings, partial(_measured, model, settings), 0)


def _measured(model: str, settings: Mapping[str, int], say: Callable[[str], None]) -> Found:
    pictures = _pictures(settings["fitted"] + settings["batch"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few inputs calibrate nothing, and chains have no time to settle
        gate = Detector(model=model, epochs=settings["epochs"], device="cpu").fit(
            pictures[: settings["fitted"]]
        )
    rows: list[dict[str, Any]] = []
    for effort in EFFORTS:
        say(f"asking with effort {effort}")
        gate.set_params(effort=effort)
        batch = settings["batch_thorough" if effort == "thorough" else "batch"]
        asked = pictures[settings["fitted"] :][:batch]
        gate.decide(asked)  # makes what the others use
        times = [_times(gate, asked) for _ in range(settings["rounds"])]
        clock, processor = (median(column) for column in zip(*times, strict=True))
        rows.append({"effort": effort, "a_second": batch / clock, "milliseconds": 1e3 * processor / batch})
    weights = sum(p.numel() for p in gate.model_.parameters())
    about = {"threads": torch.get_num_threads(), "load_average": list(os.getloadavg()), "weights": weights}
    return Found(rows, about)


def _times(gate: Detector, asked: NDArray[np.uint8]) -> tuple[float, float]:
    """Seconds by the clock, and of all threads' processor time."""
    clock, processor = time.perf_counter(), time.process_time()
    gate.decide(asked)
    return time.perf_counter() - clock, time.process_time() - processor


def _pictures(count: int) -> NDArray[np.uint8]:
    """Colours that run into each other, and noise."""
    random = np.random.default_rng(0)
    coarse = random.integers(0, 200, (count, 4, 4, 3)).repeat(8, axis=1).repeat(8, axis=2)
    return (coarse + random.integers(0, 50, coarse.shape)).astype(np.uint8)


def sentences(records: list[Record]) -> list[str]:
    """One for each model."""
    return [
        f"{record.name}: "
        + ", ".join(
            f"{row['a_second']:,.0f} pictures a second with effort {row['effort']} "
            f"({row['milliseconds']:.1f} ms of processor time each)"
            for row in record.rows
        )
        for record in records
    ]
