r"""How much more a statistic is to count where it finds every kind of made-up outlier of the inliers.

With A_k the share of pairs of an inlier and an outlier of kind k in which the outlier has the higher value,
half of those with equal values included (the AUROC), the weight is

.. math:: w = \max(0,\ 2 \min_k A_k - 1),

1 for a statistic that tells all kinds from the inliers, and 0 for one that is no better than chance on any:
whoever knows nothing of the outliers that will come must reckon with those that it is blind to.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dissensus.scores._matrix import FloatArray

__all__ = ["weight"]


def weight(inliers: FloatArray, made_up: Sequence[FloatArray]) -> float:
    """Return how much a statistic counts, by its values for inliers (n,) and for outliers of each kind.

    >>> weight(np.arange(4.0), [np.array([9.0, 9.0]), np.array([9.0, 9.0, 9.0, 1.5])])
    0.75
    >>> weight(np.arange(4.0), [np.array([9.0]), np.array([-1.0])])
    0.0
    """
    if not len(inliers) or not made_up or not all(map(len, made_up)):
        return 0.0
    return max(0.0, 2.0 * min(_above(np.sort(inliers), own) for own in made_up) - 1.0)


def _above(ordered: FloatArray, outliers: FloatArray) -> float:
    below = np.searchsorted(ordered, outliers, "left") + np.searchsorted(ordered, outliers, "right")
    return float(below.mean() / (2 * len(ordered)))
