"""Plain likelihood as a score: what disagreement is measured against."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dissensus.scores._contract import MatrixScore
from dissensus.scores._matrix import FloatArray, checked_matrix

__all__ = [
    "MeanLogLikelihood",
    "MixtureLogLikelihood",
    "log_mixture",
    "mean_log_likelihood",
    "mixture_log_likelihood",
]


def mean_log_likelihood(matrix: ArrayLike) -> FloatArray:
    r"""The negated mean log-likelihood over draws, :math:`-\frac{1}{M} \sum_m \log p(x|θ_m)`.

    With a single draw this is the plain model's likelihood score. Shapes: (M, N) → (N,).

    >>> mean_log_likelihood([[-10.0], [-30.0]])
    array([20.])
    """
    mean: FloatArray = checked_matrix(matrix).mean(axis=0)
    return -mean


def mixture_log_likelihood(matrix: ArrayLike) -> FloatArray:
    r"""The negated log-likelihood of the draws' equal mixture, :math:`-\log \frac{1}{M} \sum_m p(x|θ_m)`.

    The posterior predictive density of the input, estimated from the draws. Shapes: (M, N) → (N,).

    >>> mixture_log_likelihood([[-10.0], [-30.0]]).round(3)
    array([10.693])
    """
    return -log_mixture(checked_matrix(matrix))


class MeanLogLikelihood(MatrixScore):
    """:func:`mean_log_likelihood` as a score."""

    name = "mean-ll"
    description = "how unlikely it is to the average draw"
    function = staticmethod(mean_log_likelihood)


class MixtureLogLikelihood(MatrixScore):
    """:func:`mixture_log_likelihood` as a score."""

    name = "mixture-ll"
    description = "how unlikely it is to all draws together"
    function = staticmethod(mixture_log_likelihood)


def log_mixture(values: FloatArray) -> FloatArray:
    r""":math:`\log \frac{1}{M} \sum_m \exp(l_m)` of a checked matrix: (M, N) → (N,)."""
    best: FloatArray = values.max(axis=0)
    relative: FloatArray = np.exp(values - best).mean(axis=0)
    return best + np.log(relative)
