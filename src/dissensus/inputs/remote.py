r"""How far a row is from the bulk of all rows, although some of these may be outliers of one kind.

With F the distribution of the rows, and for a share q of them,

.. math:: r_q(x) = \inf \{ r : F(\{y : \|x - y\| ≤ r\}) ≥ q \},

the distance within which a share q of all rows lies. Fewer outliers than that cannot make each other look
usual, however close together they are: the distance reaches past them to the rest. A nearest neighbour, a
density or a trained model has learnt the outliers as well.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dissensus.one_thread import one_thread

__all__ = ["remoteness"]

MOST_ROWS = 1000  # by which F is known; 500 did as well on 22 tables
CHUNK = 1 << 22  # distances that are in memory at a time


def remoteness(rows: NDArray[np.floating], share: float, random: np.random.Generator) -> NDArray[np.float64]:
    """Return the squared distance (n,) from each row (n, D) within which ``share`` of all rows lies.

    Of more than a thousand rows a random choice stands for all.

    >>> remoteness(np.array([[0.0], [1.0], [2.0], [8.0], [8.0]]), 0.5, np.random.default_rng(0))
    array([ 4.,  1.,  4., 36., 36.])
    """
    others = rows[np.sort(random.permutation(len(rows))[:MOST_ROWS])].astype(np.float64)
    # A row among the others is the first to lie within any distance, and says nothing.
    place = min(len(others) - 1, int(np.ceil(share * (len(others) - 1))))
    lengths = np.square(others).sum(axis=1)
    found = np.empty(len(rows))
    size = max(1, CHUNK // len(others))
    with one_thread():  # whose number would change how products are rounded
        for start in range(0, len(rows), size):
            part = rows[start : start + size].astype(np.float64)
            squares = np.square(part).sum(axis=1)[:, None] + lengths - 2.0 * (part @ others.T)
            found[start : start + size] = np.partition(squares, place, axis=1)[:, place]
    return np.maximum(found, 0.0)
