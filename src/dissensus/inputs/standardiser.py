"""Columns of a table on one scale, learnt from the training rows, and values that are too far out for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Standardiser", "far_out"]

ROUNDING = 1e-12
LEARNT = 10.0  # deviations: rows further out are scored as they are, but shown to networks as this far
FARTHEST = 1e4  # in standard deviations; squares of it are still far from overflowing float32
TAIL, LEAST_TAIL = 0.005, 2  # the share of a column, or the values, on each side that may be anything at all
LEAST_ROWS = 20  # of fewer, nothing can be said to be far from the rest
FAR = 5.0  # times the range of all others, beyond that range: a typing error, not a heavy tail


@dataclass(frozen=True)
class Standardiser:
    """Subtracts a mean (D,) and divides by a scale (D,)."""

    mean: NDArray[np.float64]
    scale: NDArray[np.float64]

    @classmethod
    def fit(cls, rows: NDArray[Any]) -> Standardiser:
        """Learn mean and standard deviation of each column, without the values that are :func:`far_out`.

        A constant column is centred and left at scale 1. What varies by less than 1e-12 of its size is
        rounding and counts as constant; where such rounding is more than 1, as of columns of 1e20, it is the
        scale.

        >>> Standardiser.fit(np.array([[1.0, 7.0], [3.0, 7.0]])).scale
        array([1., 1.])
        """
        rows = np.asarray(rows, dtype=np.float64)
        mean, scale = _moments(rows)
        outside = far_out(rows)
        for column in np.flatnonzero(outside.any(axis=0)):
            (mean[column],), (scale[column],) = _moments(rows[~outside[:, column], column, None])
        return cls(mean, scale)

    def far_value(self, deviations: float) -> NDArray[np.float64]:
        """The values (D,) that lie so many deviations above the mean, in each column's own units."""
        with np.errstate(over="ignore"):
            return np.nan_to_num(self.mean + deviations * self.scale)

    def __call__(self, rows: NDArray[Any]) -> NDArray[np.float32]:
        """Rows (N, D) in standard deviations from the mean, cut off where no network could tell any more."""
        # Columns of large scales are halved first, which costs no bit: the difference of two of the largest
        # numbers would overflow. In columns of small scales such a difference is cut off anyway.
        part = np.where(self.scale > 1, 0.5, 1.0)
        with np.errstate(over="ignore"):
            standardised: NDArray[np.float64] = np.multiply(rows, part, dtype=np.float64)
            # In place: each of these would be another copy of a chunk.
            standardised -= part * self.mean
            standardised /= part * self.scale
        np.clip(standardised, -FARTHEST, FARTHEST, out=standardised)
        return standardised.astype(np.float32)


def far_out(rows: NDArray[np.float64], times: float = FAR) -> NDArray[np.bool_]:
    """Which values of rows (N, D) lie so many times further out than the rest of their column does.

    The rest is a column without its highest and lowest half percent, and without at least two values on each
    side; where it is constant, without two on each side alone. Of fewer than 20 rows, and of a column that
    is constant even so, nothing is far out.

    >>> prices = np.array([*range(20, 40), 1_000_000.0])[:, None]
    >>> far_out(prices)[-2:, 0]
    array([False,  True])
    """
    if len(rows) < LEAST_ROWS:
        return np.zeros(rows.shape, dtype=bool)
    few = LEAST_TAIL / len(rows)
    low, high = _ends(rows, max(TAIL, few))
    low, high = np.where(low < high, (low, high), _ends(rows, few))
    with np.errstate(over="ignore"):
        margin = times * (high - low)
        outside: NDArray[np.bool_] = (rows > high + margin) | (rows < low - margin)
    outside &= low < high
    return outside


def _ends(rows: NDArray[np.float64], tail: float) -> NDArray[np.float64]:
    """The lowest and highest value (2, D) of each column without a share of it on each side."""
    low = np.quantile(rows, tail, axis=0, method="higher")
    return np.stack([low, np.quantile(rows, 1 - tail, axis=0, method="lower")])


def _moments(rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and scale (D,) of rows (N, D)."""
    # Scaled before it is squared, so that columns of 1e200 do not overflow.
    largest = np.maximum(np.abs(rows).max(axis=0), np.finfo(np.float64).tiny)
    small = rows / largest
    scale = small.std(axis=0)
    constant = scale <= ROUNDING
    return (
        small.mean(axis=0) * largest,
        np.where(constant, np.maximum(largest * ROUNDING, 1.0), scale * largest),
    )
