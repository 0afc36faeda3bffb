"""The effective sample size of the draws: the disagreement score of the paper."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dissensus.scores._contract import MatrixScore
from dissensus.scores._matrix import FloatArray, checked_matrix, sorted_gaps

__all__ = ["Ess", "effective_sample_size", "ess_disagreement"]


def effective_sample_size(matrix: ArrayLike) -> FloatArray:
    r"""How many of the M draws still count once the input is seen: :math:`D = 1 / \sum_m w_m^2`, in [1, M].

    For display. It is *high* for inliers, so it is not a score in the sense of this package, and in float64
    it is exactly 1 once a draw leads by 37 nats: rank by :func:`ess_disagreement`.

    Shapes: (M, N) → (N,).

    >>> effective_sample_size([[-10.0, -10.0], [-10.0, -90.0]])
    array([2., 1.])
    """
    values = checked_matrix(matrix)
    unnormalised = np.exp(-sorted_gaps(values))
    size: FloatArray = unnormalised.sum(axis=0) ** 2 / (unnormalised**2).sum(axis=0)
    # Rounding may step over the ends of the range by one last bit.
    return np.clip(size, 1.0, values.shape[0])


def ess_disagreement(matrix: ArrayLike) -> FloatArray:
    r"""The effective sample size as a score without ties: :math:`-\log(1 - \sum_m w_m^2) = -\log(1 - 1/D)`.

    Strictly decreasing in D, from ``-log(1 - 1/M)`` where all draws agree up to +inf where one draw is left,
    and accurate for every gap between draws, not just up to the 37 nats at which D itself saturates.

    With draws sorted by their gap g to the leader, :math:`e_i = \exp(-g_i)`, :math:`f_i = e_i / e_2` and
    :math:`S = 1 + \sum_{i \ge 2} e_i`,

    .. math:: 1 - \sum w^2 = \sum w_i (1 - w_i) = \frac{e_2}{S^2} \sum_{i \ge 2} f_i \, (1 + S - e_i),

    a sum of positive terms with the only number that can underflow, :math:`e_2`, in front.

    Shapes: (M, N) → (N,).

    >>> ess_disagreement([[-10.0, -10.0, -10.0], [-10.0, -90.0, -710.0]]).round(3).tolist()
    [0.693, 79.307, 699.307]
    """
    behind = sorted_gaps(checked_matrix(matrix, least_draws=2))[1:]
    runner_up: FloatArray = behind[0]
    e = np.exp(-behind)
    total: FloatArray = 1.0 + e.sum(axis=0)
    f = np.exp(np.where(np.isinf(runner_up), 0.0, runner_up) - behind)
    doubted: FloatArray = (f * (1.0 + total - e)).sum(axis=0)
    with np.errstate(divide="ignore"):  # a lone draw: log 0, and the score is +inf
        return runner_up - np.log(doubted) + 2.0 * np.log(total)


class Ess(MatrixScore):
    """:func:`ess_disagreement` as a score."""

    name = "ess"
    description = "how few draws keep weight, by the effective sample size of the paper"
    least_draws = 2
    function = staticmethod(ess_disagreement)
