"""How long a fit to CIFAR-10's 50,000 training pictures takes on the GPU that is here, as every model comes.

Where fewer pictures are at hand, they are repeated until they are as many: what they show makes no
difference to the time. Lines say how far a fit is, so that one that is stopped has told how fast it was.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import torch

from benchmarks.checks.asked import Asked
from benchmarks.devices import gpu_name
from benchmarks.pieces import Found, Piece
from benchmarks.records import Record
from dissensus import Detector
from dissensus.errors import SettingsError
from dissensus.inputs import load_dataset

__all__ = ["pieces", "sentences"]

MODELS = ("pixelcnn", "deep-vae", "vae")
SETTINGS: Mapping[str, Any] = {"pictures": 50_000, "epochs": None}
QUICK: Mapping[str, Any] = {"pictures": 80, "epochs": 10}
EVERY = 5.0  # seconds between two lines


def pieces(asked: Asked) -> Iterator[Piece]:
    """One fit for each model, the slowest first."""
    here = gpu_name(torch.device("cuda")) if torch.cuda.is_available() else None
    settings = {**SETTINGS, **(QUICK if asked.quick else {})}
    for model in MODELS:
        yield Piece("colour_fit", model, settings, partial(_measured, model, settings, here), 0, gpu=here)


def _measured(model: str, settings: Mapping[str, Any], here: str | None, say: Callable[[str], None]) -> Found:
    if here is None and settings["epochs"] is None:
        raise SettingsError("there is no GPU here: a fit to so many pictures would take hours")
    images = load_dataset("cifar10", "train").images
    pictures = np.resize(images, (settings["pictures"], *images.shape[1:]))
    gate = Detector(model=model, epochs=settings["epochs"], random_state=0)
    started = shown = time.perf_counter()

    def told(stage: str, done: int, total: int) -> None:
        nonlocal shown
        now = time.perf_counter()
        say(f"{stage} {done}/{total}")
        if now - shown >= EVERY or done == total:
            shown = now
            sys.stderr.write(f"{model}: {stage} {done} of {total}, {now - started:.1f} s\n")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few pictures
        gate.fit(pictures, on_progress=told)
    took = time.perf_counter() - started
    about = {
        "distinct": min(len(images), len(pictures)),
        "draws": len(gate.draws_),
        "weights": sum(p.numel() for p in gate.model_.parameters()),
    }
    return Found([{"pictures": len(pictures), "seconds": took}], about)


def sentences(records: list[Record]) -> list[str]:
    """One for each model."""
    return [
        f"{record.name}: a fit to {row['pictures']:,} pictures takes {row['seconds'] / 60:.1f} minutes"
        for record in records
        for row in record.rows
    ]
