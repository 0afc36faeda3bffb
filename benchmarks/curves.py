"""What a figure needs of scores, small enough for a record: a curve in a few points, counts in a few bins."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dissensus.evaluation import roc_curve

__all__ = ["BINS", "POINTS", "histogram", "precision_recall", "roc_points"]

POINTS = 64
BINS = 40
DECIMALS = 4


def roc_points(inliers: ArrayLike, outliers: ArrayLike) -> dict[str, list[float]]:
    """The ROC curve in at most :data:`POINTS` points, which lie closest together at both ends.

    >>> roc_points([1.0, 2.0], [2.0, 3.0])
    {'false': [0.0, 0.0, 0.5, 1.0], 'true': [0.0, 0.5, 1.0, 1.0]}
    """
    curve = roc_curve(inliers, outliers)
    false, true = curve.false_positive_rate, curve.true_positive_rate
    if len(false) > POINTS:
        # By how much is flagged in all, of which each step of the curve is more.
        wanted = (1 - np.cos(np.linspace(0, np.pi, POINTS))) / 2
        rows = np.unique(np.abs((false + true)[:, None] / 2 - wanted).argmin(axis=0))
        false, true = false[rows], true[rows]
    return {"false": false.round(DECIMALS).tolist(), "true": true.round(DECIMALS).tolist()}


def precision_recall(
    roc: dict[str, list[float]], *, share: float = 0.5
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Recall and precision at the points of a ROC curve where a ``share`` of the inputs is positive.

    >>> recall, precision = precision_recall({"false": [0.0, 0.5, 1.0], "true": [0.0, 1.0, 1.0]})
    >>> recall.tolist(), precision.round(2).tolist()
    ([1.0, 1.0], [0.67, 0.5])
    """
    false, true = np.array(roc["false"]), np.array(roc["true"])
    hits, misses = share * true, (1 - share) * false
    some = hits + misses > 0
    return true[some], (hits / np.where(some, hits + misses, 1))[some]


def histogram(inliers: ArrayLike, outliers: ArrayLike, *, logarithmic: bool = False) -> dict[str, Any]:
    """Counts of both classes in :data:`BINS` bins, which hold all but a few of the scores."""
    inside, outside = np.asarray(inliers, dtype=np.float64), np.asarray(outliers, dtype=np.float64)
    low, high = np.quantile(np.concatenate([inside, outside]), [0.002, 0.998])
    edges = (np.geomspace if logarithmic else np.linspace)(low, high, BINS + 1)
    counts = {name: np.histogram(each, edges)[0] for name, each in (("in", inside), ("out", outside))}
    return {"low": low, "high": high, "logarithmic": logarithmic, **counts}
