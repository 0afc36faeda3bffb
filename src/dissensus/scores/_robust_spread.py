"""Spreads of the log-likelihood over draws that a few stray draws cannot move."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dissensus.scores._contract import MatrixScore
from dissensus.scores._matrix import FloatArray, checked_matrix

__all__ = ["Iqr", "Mad", "interquartile_range", "median_absolute_deviation"]


def median_absolute_deviation(matrix: ArrayLike) -> FloatArray:
    r"""The median over draws of :math:`|l_m - \mathrm{median}\, l|`, in nats.

    Up to half of the draws may lie anywhere, -inf included. Shapes: (M, N) → (N,).

    >>> median_absolute_deviation([[-10.0], [-11.0], [-13.0], [-900.0]])
    array([1.5])
    """
    values = _relative(matrix)
    middle = _quantile(values, 0.5)
    lost = np.isneginf(middle)
    distance = np.abs(values - np.where(lost, 0.0, middle))
    # Mirrored, so that the infinite ones come first: what _quantile expects.
    deviation = -_quantile(-distance, 0.5)
    return np.where(lost, np.inf, deviation)


def interquartile_range(matrix: ArrayLike) -> FloatArray:
    """The distance in nats between the quartiles over draws; +inf where the lower one is -inf: (M, N) → (N,).

    >>> interquartile_range([[-10.0], [-11.0], [-12.0], [-14.0], [-900.0]])
    array([3.])
    """
    values = _relative(matrix)
    lower, upper = (_quantile(values, share) for share in (0.25, 0.75))
    lost = np.isneginf(lower)
    return np.where(lost, np.inf, upper - np.where(lost, 0.0, lower))


class Mad(MatrixScore):
    """:func:`median_absolute_deviation` as a score."""

    name = "mad"
    description = "how far the log-likelihood typically is from its middle over draws"
    least_draws = 2
    function = staticmethod(median_absolute_deviation)


class Iqr(MatrixScore):
    """:func:`interquartile_range` as a score."""

    name = "iqr"
    description = "how far the middle half of the log-likelihoods spreads over draws"
    least_draws = 2
    function = staticmethod(interquartile_range)


def _relative(matrix: ArrayLike) -> FloatArray:
    """Log-likelihoods relative to the best draw's (M, N): their differences keep all digits."""
    values = checked_matrix(matrix, least_draws=2)
    relative: FloatArray = values - values.max(axis=0)
    return relative


def _quantile(values: FloatArray, share: float) -> FloatArray:
    """The quantile of each column, linear between draws; -inf where either neighbour is: (M, N) → (N,)."""
    ordered = np.sort(values, axis=0)
    place = share * (len(values) - 1)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    weight = place - below
    if weight == 0.0:
        return np.asarray(ordered[below])
    finite = np.isfinite(ordered[below])
    low, high = (np.where(finite, row, 0.0) for row in (ordered[below], ordered[above]))
    return np.where(finite, low + weight * (high - low), -np.inf)
