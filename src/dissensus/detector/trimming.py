"""Which inputs a fit is not shown, because some share of them may be outliers.

Rows and embedded inputs are told by how far they are from the bulk of all, before anything is fitted. Between
pictures such distances mean little: a first fit tells the most unusual, and a second is not shown them.

Calibration inputs are never left out: p-values are valid because nothing chose among these inputs by score.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dissensus.detector.drawing import Fitted, PreparedRows, Rows
from dissensus.detector.learnt import LeftOut
from dissensus.detector.measuring import OnProgress, measure
from dissensus.detector.plan import Plan
from dissensus.inputs import remoteness
from dissensus.scores import scored
from dissensus.seeding import numpy_stream

__all__ = ["AGAIN", "TRIMMED", "TRIMMING", "leaves_out", "left_out", "near_the_bulk", "trimmed", "usual"]

TRIMMED = ("train", "validation")
TRIMMING, AGAIN = "trimming", "sampling again"
"""Stages of a fit to pictures that leaves some out."""

# Both were chosen on 22 tables with up to a tenth of outliers, by the mean AUROC of a score by neighbours and
# Gaussians. Distances reach past twice as many rows as may be outliers. More are left out than may be
# outliers: one that stays hides others like it, and normal rows that go cost less (.015 of AUROC where a
# tenth was said to be outliers and none was).
REACH, MORE = 2.0, 1.5
MOST = 0.5  # of the rows, whatever the share of outliers


def near_the_bulk(prepared: PreparedRows, plan: Plan) -> Rows:
    """Return the rows of each part without those that are furthest from the bulk of all of them."""
    parts = [prepared.parts[name].numpy() for name in TRIMMED]
    clip = prepared.preprocessor.clip
    seen = np.concatenate(parts)
    seen = seen if clip is None else seen.clip(-clip, clip)
    share = min(REACH * plan.contamination, MOST)
    found = remoteness(seen, share, numpy_stream(plan.seed, "trimming"))
    kept = dict(prepared.rows)
    for name, scores in zip(TRIMMED, np.split(found, [len(parts[0])]), strict=True):
        kept[name] = kept[name][usual(scores, min(MORE * plan.contamination, MOST))]
    return kept


def trimmed(prepared: PreparedRows, fitted: Fitted, plan: Plan, *, on_progress: OnProgress | None) -> Rows:
    """Return the rows of a fit without the share of each part that it finds most unusual.

    The score learns from validation inputs, so
    that these are trimmed like those that weights are drawn by.
    """
    rows = prepared.rows
    kept = dict(rows)
    total, done = sum(len(rows[part]) for part in TRIMMED), 0
    for part in TRIMMED:
        found = measure(
            fitted.drawn,
            prepared.given(part),
            fitted.score.requires,
            device=plan.device,
            data=prepared.parts[part],
        )
        kept[part] = rows[part][usual(scored(fitted.score, found), plan.contamination)]
        done += len(rows[part])
        if on_progress is not None:
            on_progress(TRIMMING, done, total)
    return kept


def leaves_out(rows: Rows, contamination: float) -> bool:
    """Whether any input may be an outlier."""
    return any(_excess(len(rows[part]), contamination) for part in TRIMMED)


def usual(scores: NDArray[np.float64], share: float) -> NDArray[np.int64]:
    """Return the positions, in order, of all scores (n,) but the share that is highest.

    >>> usual(np.array([0.1, 9.0, 0.3, 0.2]), 0.25)
    array([0, 2, 3])
    """
    order = np.argsort(scores, kind="stable")
    return np.sort(order[: len(scores) - _excess(len(scores), share)])


def left_out(rows: Rows, kept: Rows, contamination: float) -> LeftOut:
    """Return how many inputs of each part were not kept."""
    return LeftOut(contamination, **{part: len(rows[part]) - len(kept[part]) for part in TRIMMED})


def _excess(count: int, share: float) -> int:
    """How many of ``count`` inputs are left out: of a share of at most a half never all of them."""
    return round(share * count)
