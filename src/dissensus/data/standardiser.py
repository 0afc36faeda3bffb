"""Columns of a table on one scale, learnt from the training rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Standardiser"]

ROUNDING = 1e-12
FARTHEST = 1e4  # in standard deviations; squares of it are still far from overflowing float32


@dataclass(frozen=True)
class Standardiser:
    """Subtracts a mean (D,) and divides by a scale (D,)."""

    mean: NDArray[np.float64]
    scale: NDArray[np.float64]

    @classmethod
    def fit(cls, rows: NDArray[Any]) -> Standardiser:
        """Mean and standard deviation of each column; a constant column is centred and left at scale 1.

        What varies by less than 1e-12 of its size is rounding and counts as constant; where such rounding is
        more than 1, as of columns of 1e20, it is the scale.

        >>> Standardiser.fit(np.array([[1.0, 7.0], [3.0, 7.0]])).scale
        array([1., 1.])
        """
        rows = np.asarray(rows, dtype=np.float64)
        # Scaled before it is squared, so that columns of 1e200 do not overflow.
        largest = np.maximum(np.abs(rows).max(axis=0), np.finfo(np.float64).tiny)
        small = rows / largest
        scale = small.std(axis=0)
        constant = scale <= ROUNDING
        return cls(
            small.mean(axis=0) * largest,
            np.where(constant, np.maximum(largest * ROUNDING, 1.0), scale * largest),
        )

    def __call__(self, rows: NDArray[Any]) -> NDArray[np.float32]:
        """Rows (N, D) in standard deviations from the mean, cut off where no network could tell any more."""
        with np.errstate(over="ignore"):
            standardised: NDArray[np.float64] = np.subtract(rows, self.mean, dtype=np.float64)
            # In place: each of these would be another copy of a chunk.
            standardised /= self.scale
        np.clip(standardised, -FARTHEST, FARTHEST, out=standardised)
        return standardised.astype(np.float32)
