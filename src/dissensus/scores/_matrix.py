"""The log-likelihood matrix: the one place where it is checked, and its reduction to gaps between draws."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dissensus.errors import DataError, SettingsError

__all__ = ["FloatArray", "checked_matrix", "sorted_gaps", "times_each_row"]

FloatArray: TypeAlias = NDArray[np.float64]


def checked_matrix(matrix: ArrayLike, *, least_draws: int = 1) -> FloatArray:
    """The matrix (M, N) in float64, or an error that names the first input that cannot be scored.

    Entries are finite or -inf (the draw rules the input out), and no column is -inf throughout. What comes
    back has columns in one piece: NumPy then adds up each by itself, in an order that does not depend on how
    many there are, and an input scores the same to the last bit whatever it is scored with.
    """
    values = np.asarray(matrix)
    if values.ndim != 2:
        raise DataError(
            f"log-likelihoods must be a matrix of shape (draws, inputs), not of shape {values.shape}; "
            "for a single input pass one column"
        )
    if values.dtype.kind != "f":
        raise DataError(f"log-likelihoods must be floating-point numbers, not {values.dtype}")
    if values.shape[0] < least_draws:
        if values.shape[0] == 0:
            raise DataError("log-likelihoods hold no draws; pass a matrix with at least one row")
        raise SettingsError(
            f"disagreement needs at least {'two' if least_draws == 2 else least_draws} draws, but the matrix "
            f"has {values.shape[0]}; "
            "keep more draws, or use a likelihood score such as 'mean-ll'"
        )
    # NaN fails every comparison, so this catches it together with +inf.
    unusable = ~(values < np.inf)
    if unusable.any():
        column = int(unusable.any(axis=0).argmax())
        draw = int(unusable[:, column].argmax())
        raise DataError(
            f"the log-likelihood of input {column} (column {column}) under draw {draw} is "
            f"{values[draw, column]}; drop that input, or the draw if it does this to every input"
        )
    ruled_out = np.isneginf(values).all(axis=0)
    if ruled_out.any():
        column = int(ruled_out.argmax())
        raise DataError(
            f"input {column} (column {column}) has log-likelihood -inf under every draw, so no draw can be "
            "preferred to another; drop it, or check that inputs lie in the range the model was trained on"
        )
    return np.asfortranarray(values, dtype=np.float64)


def times_each_row(W: FloatArray, rows: FloatArray) -> FloatArray:
    """W v for every row v: (K, J), (N, J) → (N, K).

    One product of all rows would be rounded in a way that depends on their number.
    """
    return np.asarray(np.matmul(W, np.ascontiguousarray(rows)[:, :, None])[:, :, 0])


def sorted_gaps(matrix: FloatArray) -> FloatArray:
    """How many nats each draw lies behind the best one for that input: (M, N), ascending, first row zero.

    The weights are w_m = exp(-gap_m) / Σ exp(-gap). Sorting makes whatever follows the same to the last bit
    for any order of the draws. Gaps may be inf.

    >>> sorted_gaps(np.array([[-103.0, 5.0], [-100.0, 2.0], [-101.0, -np.inf]])).T
    array([[ 0.,  1.,  3.],
           [ 0.,  3., inf]])
    """
    descending = -np.sort(-matrix, axis=0)
    return descending[:1] - descending
