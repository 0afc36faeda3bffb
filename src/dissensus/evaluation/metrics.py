"""How well a score tells outliers from inliers, in single numbers.

Scores are higher for outliers. The suffix ``_in`` says that in-distribution is the positive class, ``_out``
that out-of-distribution is. AUROC is the same both ways.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dissensus.errors import SettingsError
from dissensus.evaluation.curves import Counts, PositiveClass, counts

__all__ = ["Metrics", "auprc", "auroc", "evaluate", "fpr_at_tpr"]


@dataclass(frozen=True)
class Metrics:
    """All the numbers a result is reported with; each lies in [0, 1]."""

    auroc: float
    auprc_in: float
    auprc_out: float
    fpr80_in: float
    fpr80_out: float
    fpr95_in: float
    fpr95_out: float


def evaluate(inlier_scores: ArrayLike, outlier_scores: ArrayLike) -> Metrics:
    """All metrics at once, from scores of shapes (N_in,) and (N_out,).

    >>> evaluate([1.0, 2.0, 3.0], [4.0, 5.0]).auroc
    1.0
    """
    found_in = counts(inlier_scores, outlier_scores, positive="in")
    found_out = counts(inlier_scores, outlier_scores, positive="out")
    return Metrics(
        auroc=_area_under_roc(found_out),
        auprc_in=_average_precision(found_in),
        auprc_out=_average_precision(found_out),
        fpr80_in=_fpr_at_tpr(found_in, 0.8),
        fpr80_out=_fpr_at_tpr(found_out, 0.8),
        fpr95_in=_fpr_at_tpr(found_in, 0.95),
        fpr95_out=_fpr_at_tpr(found_out, 0.95),
    )


def auroc(inlier_scores: ArrayLike, outlier_scores: ArrayLike) -> float:
    """P(outlier's score > inlier's) + P(equal) / 2 over all pairs: the area under the ROC curve.

    >>> auroc([1.0, 2.0], [2.0, 3.0])
    0.875
    """
    return _area_under_roc(counts(inlier_scores, outlier_scores, positive="out"))


def auprc(inlier_scores: ArrayLike, outlier_scores: ArrayLike, *, positive: PositiveClass) -> float:
    """Average precision, Σ_t (recall_t - recall_{t-1}) · precision_t over the distinct scores t.

    The area of steps under the precision–recall curve: no interpolation, which would be too optimistic. It
    depends on the share of positives among the inputs.

    >>> round(auprc([1.0, 2.0], [2.0, 3.0], positive="out"), 4)
    0.8333
    """
    return _average_precision(counts(inlier_scores, outlier_scores, positive=positive))


def fpr_at_tpr(
    inlier_scores: ArrayLike, outlier_scores: ArrayLike, *, positive: PositiveClass, tpr: float = 0.8
) -> float:
    """The share of negatives flagged at the strictest threshold that flags at least ``tpr`` of the positives.

    Thresholds are observed scores and nothing is interpolated, so the number is one that a user of the score
    would really have met, never a smaller one.

    >>> fpr_at_tpr([1.0, 2.0], [2.0, 3.0], positive="out", tpr=0.8)
    0.5
    """
    if not 0.0 < tpr <= 1.0:
        raise SettingsError(f"tpr is a share of the positives, above 0 and at most 1, not {tpr}")
    return _fpr_at_tpr(counts(inlier_scores, outlier_scores, positive=positive), tpr)


def _area_under_roc(flagged: Counts) -> float:
    true, false = flagged.true_positives, flagged.false_positives
    # Trapezoids in whole numbers: twice the count of ordered pairs, ties once, is exact.
    before = np.concatenate([[0], true[:-1]])
    twice = int(((true + before) * np.diff(false, prepend=0)).sum())
    return twice / (2 * int(true[-1]) * int(false[-1]))


def _average_precision(flagged: Counts) -> float:
    true, false = flagged.true_positives, flagged.false_positives
    # fsum: rounding must not push a perfect score above 1.
    return math.fsum(np.diff(true, prepend=0) * (true / (true + false))) / int(true[-1])


def _fpr_at_tpr(flagged: Counts, tpr: float) -> float:
    enough = flagged.true_positives / flagged.true_positives[-1] >= tpr
    return int(flagged.false_positives[enough.argmax()]) / int(flagged.false_positives[-1])
