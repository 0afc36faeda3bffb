"""Scores from the spread of the log-likelihood over draws."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dissensus.scores._contract import MatrixScore
from dissensus.scores._matrix import FloatArray, checked_matrix

__all__ = ["Std", "Waic", "std_of_log_likelihood", "waic"]


def std_of_log_likelihood(matrix: ArrayLike) -> FloatArray:
    r"""The standard deviation over draws (divisor M) of :math:`\log p(x|θ_m)`, in nats.

    It hears all draws alike, so draws from before a chain has settled drown it; +inf where a draw rules the
    input out. Shapes: (M, N) → (N,).

    >>> std_of_log_likelihood([[-10.0, -10.0], [-10.0, -30.0]])
    array([ 0., 10.])
    """
    return _deviation(checked_matrix(matrix, least_draws=2))


def waic(matrix: ArrayLike) -> FloatArray:
    r"""The negated Watanabe–Akaike criterion, :math:`-(\mathrm{E}_m[l_m] - \mathrm{Var}_m[l_m])`.

    As used on ensembles by Choi et al. (2018); the variance has divisor M. Shapes: (M, N) → (N,).

    >>> waic([[-10.0, -10.0], [-10.0, -30.0]])
    array([ 10., 120.])
    """
    values = checked_matrix(matrix, least_draws=2)
    mean: FloatArray = values.mean(axis=0)
    return _deviation(values) ** 2 - mean


class Std(MatrixScore):
    """:func:`std_of_log_likelihood` as a score."""

    name = "std"
    description = "how far the log-likelihood spreads over draws"
    least_draws = 2
    function = staticmethod(std_of_log_likelihood)


class Waic(MatrixScore):
    """:func:`waic` as a score."""

    name = "waic"
    description = "how unlikely it is to the average draw, with a penalty for spread"
    least_draws = 2
    function = staticmethod(waic)


def _deviation(values: FloatArray) -> FloatArray:
    """The standard deviation of each column, +inf for those that hold -inf: (M, N) → (N,)."""
    finite = np.isfinite(values).all(axis=0)
    deviation = np.full(values.shape[1], np.inf)
    deviation[finite] = values[:, finite].std(axis=0)
    return deviation
