"""Part (j): rows. The fit of ``Detector()`` as it comes and its scores, beside plain nearest neighbours."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from benchmarks.speed.comparison import Comparison, faster
from benchmarks.speed.sizes import Sizes
from benchmarks.speed.timing import median
from dissensus import Detector

__all__ = ["measure_rows"]

COLUMNS, FACTORS = 20, 5
FIT_GOAL, SCORE_GOAL = 20.0, 5.0  # seconds of 5,000 rows, and of 100,000
NEIGHBOUR = 5


def measure_rows(sizes: Sizes, device: torch.device) -> dict[str, Any]:
    """Seconds of a fit and of scoring, in turn with the 5th neighbour's."""
    fitted, asked = (200, 1000) if sizes.quick else (5000, 100_000)
    rounds = 1 if sizes.quick else 3
    rows = _rows(fitted, asked)
    works = {
        "Detector()": partial(_detector, *rows, str(device)),
        "5th neighbour": partial(_neighbours, *rows),
    }
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in works}
    _detector(rows[0][:200], rows[1][:200], str(device))  # not counted: imports and first calls
    for _ in range(rounds):
        for name, work in works.items():
            times[name].append(work())
    found = {
        name: {"fit": median([one[0] for one in own]), "score": median([one[1] for one in own])}
        for name, own in times.items()
    }
    return {
        "settings": {"fitted": fitted, "asked": asked, "columns": COLUMNS, "rounds": rounds},
        "seconds": found,
        "comparisons": [one.to_dict() for one in _compared(found, fitted, asked)],
    }


def _compared(found: dict[str, dict[str, float]], fitted: int, asked: int) -> list[Comparison]:
    whats = {
        "fit": (f"fit of {fitted:,} × {COLUMNS} rows by Detector()", FIT_GOAL),
        "score": (f"scores of {asked:,} × {COLUMNS} rows by Detector()", SCORE_GOAL),
    }
    ours, plain = found["Detector()"], found["5th neighbour"]
    lines = [faster(what, ours[stage], goal, "goal") for stage, (what, goal) in whats.items()]
    # A fit of neighbours keeps the rows, which takes no time: it is in the record.
    return [
        *lines,
        faster(whats["score"][0], ours["score"], plain["score"], "5th nearest row (scikit-learn)"),
    ]


def _rows(fitted: int, asked: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Made-up rows of columns that depend on each other, some of them skewed."""
    random = np.random.default_rng(0)
    loadings = random.normal(size=(FACTORS, COLUMNS))
    found = random.normal(size=(fitted + asked, FACTORS)) @ loadings
    found += 0.3 * random.normal(size=found.shape)
    found[:, ::4] = np.exp(found[:, ::4] / 2)
    return found[:fitted], found[fitted:]


def _detector(fitted: NDArray[np.float64], asked: NDArray[np.float64], device: str) -> tuple[float, float]:
    started = time.perf_counter()
    gate = Detector(device=device).fit(fitted)
    ready = time.perf_counter()
    gate.p_values(asked)
    return ready - started, time.perf_counter() - ready


def _neighbours(fitted: NDArray[np.float64], asked: NDArray[np.float64]) -> tuple[float, float]:
    started = time.perf_counter()
    centre, scale = fitted.mean(axis=0), fitted.std(axis=0)
    found = NearestNeighbors(n_neighbors=NEIGHBOUR, n_jobs=-1).fit((fitted - centre) / scale)
    ready = time.perf_counter()
    found.kneighbors((asked - centre) / scale)
    return ready - started, time.perf_counter() - ready
