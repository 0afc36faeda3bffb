"""The entropy of the draws' weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dissensus.scores._contract import MatrixScore
from dissensus.scores._matrix import FloatArray, checked_matrix, sorted_gaps

__all__ = ["Entropy", "entropy"]


def entropy(matrix: ArrayLike) -> FloatArray:
    r"""How far the weights are from spread out: :math:`-\log H(w)` with :math:`H(w) = -\sum_m w_m \log w_m`.

    From ``-log log M`` where all draws agree up to +inf where one draw is left. The order is that of the
    negative entropy, but the logarithm keeps apart inputs whose entropy is far below the smallest float64.

    With draws sorted by their gap g to the leader, :math:`e_i = \exp(-g_i)`, :math:`f_i = e_i / e_2` and
    :math:`R = \sum_{i \ge 2} e_i`,

    .. math:: H = \log(1 + R) + \frac{1}{1+R} \sum_{i \ge 2} e_i g_i
                = e_2 \sum_{i \ge 2} f_i \left( \frac{\log(1 + R)}{R} + \frac{g_i}{1 + R} \right),

    a sum of positive terms with the only number that can underflow, :math:`e_2`, in front.

    Shapes: (M, N) → (N,).

    >>> entropy([[-10.0, -10.0, -10.0], [-10.0, -90.0, -710.0]]).round(3).tolist()
    [0.367, 75.606, 693.447]
    """
    behind = sorted_gaps(checked_matrix(matrix, least_draws=2))[1:]
    runner_up: FloatArray = behind[0]
    rest: FloatArray = np.exp(-behind).sum(axis=0)
    f = np.exp(np.where(np.isinf(runner_up), 0.0, runner_up) - behind)
    # log(1 + R) / R tends to 1 as R underflows.
    log_ratio = np.divide(np.log1p(rest), rest, out=np.ones_like(rest), where=rest > 0.0)
    nats = np.where(np.isinf(behind), 0.0, behind)  # a draw without weight adds nothing: 0·inf = 0 here
    scaled: FloatArray = (f * (log_ratio + nats / (1.0 + rest))).sum(axis=0)
    with np.errstate(divide="ignore"):  # a lone draw: log 0, and the score is +inf
        return runner_up - np.log(scaled)


class Entropy(MatrixScore):
    """:func:`entropy` as a score."""

    name = "entropy"
    description = "how concentrated the draws’ weights are"
    least_draws = 2
    function = staticmethod(entropy)
