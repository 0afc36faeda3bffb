"""The Kullback–Leibler divergence from equal weights to the draws' weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dissensus.scores._contract import MatrixScore
from dissensus.scores._matrix import FloatArray, checked_matrix, sorted_gaps

__all__ = ["Kl", "kl_to_uniform"]


def kl_to_uniform(matrix: ArrayLike) -> FloatArray:
    r"""KL[uniform ‖ w] :math:`= -\frac{1}{M} \sum_m \log(M w_m)`, in nats; 0 where all draws agree.

    The sample form of KL[p(θ|data) ‖ p(θ|data, x)]: how far the posterior would move if the input were added
    to the training data. Unlike the effective sample size it also hears the draws far behind the leader, and
    it is +inf as soon as one draw rules the input out.

    Shapes: (M, N) → (N,).

    >>> kl_to_uniform([[-10.0, -10.0], [-10.0, -90.0]]).round(3)
    array([ 0.   , 39.307])
    """
    gaps = sorted_gaps(checked_matrix(matrix, least_draws=2))
    # -log w_m = gap_m + log Σ exp(-gap); the mean of exp(-gap) holds the log M.
    divergence: FloatArray = gaps.mean(axis=0) + np.log(np.exp(-gaps).mean(axis=0))
    return np.maximum(divergence, 0.0)


class Kl(MatrixScore):
    """:func:`kl_to_uniform` as a score."""

    name = "kl"
    description = "how far the draws’ weights are from equal"
    least_draws = 2
    function = staticmethod(kl_to_uniform)
