r"""Which inputs of a pool would teach a posterior the most, chosen one after the other.

Each input n has a column of the matrix, how likely it is under every draw; centred by input and by draw it
says which draws the input speaks for and against, :math:`c_n \in \mathbb R^M`. To learn from inputs is to
learn which draws are right, as in a linear model of normal errors with variance σ²: from :math:`\Sigma = I`,

.. math:: n^* = \arg\max_n c_n^\top \Sigma\, c_n, \qquad
          \Sigma \leftarrow \Sigma - \frac{\Sigma c\, c^\top \Sigma}{\sigma^2 + c^\top \Sigma\, c}.

What an input says that was said before counts less, so that a choice holds no two of a kind.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dissensus.errors import DataError, SettingsError

__all__ = ["most_informative"]


def most_informative(matrix: ArrayLike, n: int) -> NDArray[np.int64]:
    """Choose n of N inputs to learn from, the most informative first, by the matrix (M, N).

    σ² is the median of ‖c‖². Of inputs with equal columns one is chosen at most, unless there are no others.

    >>> matrix = [[0.0, 0.0, -9.0, 0.0, 0.0], [0.0, 0.0, 0.0, -8.0, -8.0], [0.0, 0.0, 0.0, 0.0, 0.0]]
    >>> sorted(most_informative(matrix, 2).tolist())
    [2, 3]
    """
    values = np.asarray(matrix, dtype=np.float64)
    if values.ndim != 2 or not np.isfinite(values).all():
        raise DataError("the matrix must be of shape (draws, inputs), and finite")
    if type(n) is not int or not 1 <= n <= values.shape[1]:
        raise SettingsError(f"n must be from 1 to {values.shape[1]}, the number of inputs, not {n!r}")
    columns = values - values.mean(0)
    columns -= columns.mean(1, keepdims=True)
    noise = float(np.median(np.square(columns).sum(0))) or 1.0
    first = np.unique(values, axis=1, return_index=True)[1]
    again = np.ones(values.shape[1], bool)
    again[first] = False
    spread = columns.copy()  # Σ c for each input
    gain = np.einsum("mn,mn->n", columns, spread)
    gain[again] = -1.0
    chosen: list[int] = []
    while len(chosen) < n:
        best = int(gain.argmax())
        chosen.append(best)
        direction = spread[:, best].copy()
        share = (direction @ columns) / (noise + columns[:, best] @ direction)
        spread -= direction[:, None] * share
        kept = gain >= 0
        gain[kept] = np.maximum(np.einsum("mn,mn->n", columns[:, kept], spread[:, kept]), 0.0)
        gain[best] = -np.inf
    return np.array(chosen, dtype=np.int64)
