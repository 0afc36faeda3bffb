"""Receiver operating and precision–recall curves of a score.

Scores are higher for outliers. ``positive`` names the class that is to be found: ``"out"`` flags inputs whose
score is at least the threshold, ``"in"`` those whose score is at most the threshold. The two ways give
different precision–recall curves and false-positive rates, so the choice is always part of a result's name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dissensus.errors import DataError, SettingsError

__all__ = [
    "Counts",
    "FloatArray",
    "PositiveClass",
    "PrCurve",
    "RocCurve",
    "checked_scores",
    "counts",
    "pr_curve",
    "roc_curve",
]

FloatArray: TypeAlias = NDArray[np.float64]
PositiveClass: TypeAlias = Literal["in", "out"]


@dataclass(frozen=True)
class Counts:
    """What is flagged at each of the T distinct scores, from the strictest threshold to the most lenient."""

    thresholds: FloatArray
    """Scores, shape (T,)."""
    true_positives: NDArray[np.int64]
    """Positives flagged, shape (T,); the last is their number."""
    false_positives: NDArray[np.int64]
    """Negatives flagged, shape (T,); the last is their number."""


@dataclass(frozen=True)
class RocCurve:
    """Points from (0, 0) to (1, 1), each of shape (T+1,); the first threshold flags nothing."""

    false_positive_rate: FloatArray
    true_positive_rate: FloatArray
    thresholds: FloatArray


@dataclass(frozen=True)
class PrCurve:
    """Points from recall 0 (precision 1 by convention) to recall 1, each of shape (T+1,)."""

    recall: FloatArray
    precision: FloatArray
    thresholds: FloatArray


def roc_curve(
    inlier_scores: ArrayLike, outlier_scores: ArrayLike, *, positive: PositiveClass = "out"
) -> RocCurve:
    """True-positive against false-positive rate at every distinct score.

    >>> curve = roc_curve([1.0, 2.0], [2.0, 3.0])
    >>> curve.false_positive_rate.tolist(), curve.true_positive_rate.tolist()
    ([0.0, 0.0, 0.5, 1.0], [0.0, 0.5, 1.0, 1.0])
    """
    flagged = counts(inlier_scores, outlier_scores, positive=positive)
    return RocCurve(
        false_positive_rate=np.r_[0.0, flagged.false_positives / flagged.false_positives[-1]],
        true_positive_rate=np.r_[0.0, flagged.true_positives / flagged.true_positives[-1]],
        thresholds=np.r_[_flags_nothing(positive), flagged.thresholds],
    )


def pr_curve(
    inlier_scores: ArrayLike, outlier_scores: ArrayLike, *, positive: PositiveClass = "out"
) -> PrCurve:
    """Precision against recall at every distinct score.

    >>> curve = pr_curve([1.0, 2.0], [2.0, 3.0])
    >>> curve.recall.tolist(), curve.precision.round(2).tolist()
    ([0.0, 0.5, 1.0, 1.0], [1.0, 1.0, 0.67, 0.5])
    """
    flagged = counts(inlier_scores, outlier_scores, positive=positive)
    true, false = flagged.true_positives, flagged.false_positives
    return PrCurve(
        recall=np.r_[0.0, true / true[-1]],
        precision=np.r_[1.0, true / (true + false)],
        thresholds=np.r_[_flags_nothing(positive), flagged.thresholds],
    )


def counts(inlier_scores: ArrayLike, outlier_scores: ArrayLike, *, positive: PositiveClass) -> Counts:
    """Flagged positives and negatives at every distinct score, in O(n log n); ties are flagged together."""
    inliers = checked_scores(inlier_scores, "inlier")
    outliers = checked_scores(outlier_scores, "outlier")
    thresholds = np.unique(np.concatenate([inliers, outliers]))
    if positive == "out":
        thresholds = thresholds[::-1]
        true = outliers.size - np.searchsorted(np.sort(outliers), thresholds, side="left")
        false = inliers.size - np.searchsorted(np.sort(inliers), thresholds, side="left")
    elif positive == "in":
        true = np.searchsorted(np.sort(inliers), thresholds, side="right")
        false = np.searchsorted(np.sort(outliers), thresholds, side="right")
    else:
        raise SettingsError(f"positive must be 'in' or 'out', the class to be found, not {positive!r}")
    return Counts(thresholds, true.astype(np.int64), false.astype(np.int64))


def checked_scores(scores: ArrayLike, which: str) -> FloatArray:
    """The scores (N,) in float64: at least one, none NaN; infinite ones keep their rank."""
    values = np.asarray(scores)
    if values.ndim != 1 or values.size == 0:
        raise DataError(f"{which} scores must be a non-empty vector, not an array of shape {values.shape}")
    if values.dtype.kind not in "fiu":
        raise DataError(f"{which} scores must be numbers, not {values.dtype}")
    missing = np.isnan(values)
    if missing.any():
        raise DataError(
            f"{which} score {int(missing.argmax())} is NaN; it cannot be ranked, so drop that input"
        )
    return values.astype(np.float64)


def _flags_nothing(positive: PositiveClass) -> float:
    return np.inf if positive == "out" else -np.inf
