"""The uncertainty of an AUROC that comes from the finite number of test inputs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit, ndtri

from dissensus.errors import DataError, SettingsError
from dissensus.evaluation.curves import FloatArray, checked_scores

__all__ = ["Interval", "auroc_interval"]


@dataclass(frozen=True)
class Interval:
    """A confidence interval."""

    low: float
    high: float


def auroc_interval(inlier_scores: ArrayLike, outlier_scores: ArrayLike, *, level: float = 0.95) -> Interval:
    r"""DeLong's confidence interval for the AUROC, in O(n log n) and without random numbers.

    With the placements :math:`V_j = P(\text{inlier} < \text{outlier}_j)` and
    :math:`U_i = P(\text{outlier} > \text{inlier}_i)` (ties count half), the variance of the area A is
    :math:`\mathrm{var}(V)/n_\text{out} + \mathrm{var}(U)/n_\text{in}`. The normal interval is taken for
    logit A, so that it stays within (0, 1). Where the classes are perfectly apart that variance is zero and
    says nothing: the interval is then the exact binomial one for min(n_in, n_out) independent pairs, all in
    order.

    It covers the choice of test inputs, not that of the training run.

    >>> interval = auroc_interval([0.0, 1.0, 2.0, 3.0, 4.0], [2.5, 3.5, 4.5, 5.5])
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.403, 0.979)
    """
    if not 0.0 < level < 1.0:
        raise SettingsError(f"level is a probability strictly between 0 and 1, not {level}")
    inliers = checked_scores(inlier_scores, "inlier")
    outliers = checked_scores(outlier_scores, "outlier")
    for values, which in ((inliers, "inlier"), (outliers, "outlier")):
        if values.size < 2:
            raise DataError(
                f"an interval needs at least two {which} scores to see how they vary, not {values.size}"
            )
    above = _share_below(inliers, outliers)
    area = float(above.mean())
    tail = (1.0 - level) / 2.0
    if area in (0.0, 1.0):
        bound = tail ** (1.0 / min(inliers.size, outliers.size))
        return Interval(bound, 1.0) if area == 1.0 else Interval(0.0, 1.0 - bound)
    below = 1.0 - _share_below(outliers, inliers)
    deviation = math.sqrt(above.var(ddof=1) / outliers.size + below.var(ddof=1) / inliers.size)
    half_width = -float(ndtri(tail)) * deviation / (area * (1.0 - area))
    centre = float(logit(area))
    return Interval(float(expit(centre - half_width)), float(expit(centre + half_width)))


def _share_below(reference: FloatArray, scores: FloatArray) -> FloatArray:
    """The share of the reference (R,) below each score, ties counted half: (N,) → (N,)."""
    ordered = np.sort(reference)
    left = np.searchsorted(ordered, scores, side="left")
    right = np.searchsorted(ordered, scores, side="right")
    return (left + right) / (2.0 * reference.size)
