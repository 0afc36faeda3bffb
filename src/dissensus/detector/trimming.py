"""Which inputs a second fit is not shown, because the first found them most unusual.

Calibration inputs are never left out: p-values are valid because nothing chose among these inputs by score.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dissensus.detector.drawing import Fitted, Rows
from dissensus.detector.learnt import LeftOut
from dissensus.detector.measuring import OnProgress, measure
from dissensus.detector.plan import Plan
from dissensus.scores import scored

__all__ = ["AGAIN", "TRIMMED", "TRIMMING", "leaves_out", "left_out", "trimmed", "usual"]

TRIMMED = ("train", "validation")
TRIMMING, AGAIN = "trimming", "sampling again"
"""Stages of a fit that leaves inputs out."""


def trimmed(fitted: Fitted, plan: Plan, *, on_progress: OnProgress | None) -> Rows:
    """Return the rows of a fit without the share of each part that it finds most unusual.

    The score learns from validation inputs, so
    that these are trimmed like those that weights are drawn by.
    """
    rows = fitted.prepared.rows
    kept = dict(rows)
    total, done = sum(len(rows[part]) for part in TRIMMED), 0
    for part in TRIMMED:
        found = measure(
            fitted.drawn,
            fitted.prepared.given(part),
            fitted.score.requires,
            device=plan.device,
            data=fitted.prepared.parts[part],
        )
        kept[part] = rows[part][usual(scored(fitted.score, found), plan.contamination)]
        done += len(rows[part])
        if on_progress is not None:
            on_progress(TRIMMING, done, total)
    return kept


def leaves_out(rows: Rows, contamination: float) -> bool:
    """Whether there is any input to leave out."""
    return any(_excess(len(rows[part]), contamination) for part in TRIMMED)


def usual(scores: NDArray[np.float64], contamination: float) -> NDArray[np.int64]:
    """Return the positions, in order, of all scores (n,) but the share that is highest.

    >>> usual(np.array([0.1, 9.0, 0.3, 0.2]), 0.25)
    array([0, 2, 3])
    """
    order = np.argsort(scores, kind="stable")
    return np.sort(order[: len(scores) - _excess(len(scores), contamination)])


def left_out(rows: Rows, kept: Rows, contamination: float) -> LeftOut:
    """Return how many inputs of each part were not kept."""
    return LeftOut(contamination, **{part: len(rows[part]) - len(kept[part]) for part in TRIMMED})


def _excess(count: int, contamination: float) -> int:
    """How many of ``count`` inputs are left out: below half of them, so that some are kept."""
    return round(contamination * count)
