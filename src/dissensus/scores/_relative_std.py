"""The spread over draws, relative to what is usual for inputs of the same likelihood."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from dissensus.errors import DataError
from dissensus.scores._contract import Score
from dissensus.scores._matrix import FloatArray, checked_matrix
from dissensus.scores._measured import Measured, matrix_of
from dissensus.scores._spread import std_of_log_likelihood

__all__ = ["RelativeStd"]

_CLIPPED = 0.01  # of the inliers at either end: beyond them the line is not followed


class RelativeStd(Score):
    r"""The standard deviation over draws divided by the one expected of an inlier with that mean.

    .. math:: \frac{\mathrm{std}_m\, l_m}{\exp(a + b\,\bar l)}, \qquad
              a, b: \text{ least squares of } \log \mathrm{std} \text{ on } \bar l \text{ over inliers},

    with :math:`\bar l` clipped to the range of all but 1% of the inliers at either end. Unlikely inputs have
    a larger spread even among inliers; this takes that part away.

    >>> inliers = np.array([[-11.0, -22.0, -44.0], [-9.0, -18.0, -36.0]])
    >>> RelativeStd().fit(inliers)([[-23.0], [-17.0]]).round(2)
    array([1.74])
    """

    name = "relative-std"
    description = "how far the log-likelihood spreads for an input as likely as this one"
    least_draws = 2
    line_: FloatArray
    """a, b and the least and the greatest mean log-likelihood at which the line is followed (4,)."""

    def fit(self, measured: Measured | ArrayLike, /) -> Self:
        """Learn the usual spread from inliers: (M, N)."""
        values = checked_matrix(matrix_of(measured), least_draws=2)
        spread = std_of_log_likelihood(values)
        usable = np.isfinite(spread)
        if not usable.any():
            raise DataError(
                "relative-std needs at least one inlier that no draw rules out to fit on, but the matrix has "
                "none"
            )
        mean, spread = values[:, usable].mean(axis=0), spread[usable]
        low, high = np.quantile(mean, [_CLIPPED, 1 - _CLIPPED])
        a = b = 0.0
        if (spread > 0.0).any():
            log_std = np.log(spread[spread > 0.0])
            at = np.clip(mean[spread > 0.0], low, high)
            centred = at - at.mean()
            # Means that are all alike have no slope, only rounding errors.
            if (centred**2).mean() > (1e-9 * np.abs(at).max()) ** 2:
                b = float(centred @ log_std / (centred @ centred))
            a = float(log_std.mean() - b * at.mean())
        self.line_ = np.array([a, b, low, high])
        return self

    def __call__(self, measured: Measured | ArrayLike, /) -> FloatArray:
        """Scores (N,) for log-likelihoods (M, N); +inf where a draw rules the input out."""
        self.check_fitted("line_")
        values = checked_matrix(matrix_of(measured), least_draws=2)
        a, b, low, high = self.line_
        usual: FloatArray = np.exp(a + b * np.clip(values.mean(axis=0), low, high))
        return std_of_log_likelihood(values) / usual

    def state(self) -> dict[str, FloatArray]:
        """Return what was learnt: the line of usual spread by likelihood, (4,)."""
        self.check_fitted("line_")
        return {"line": self.line_}

    def restore(self, state: Mapping[str, FloatArray], /) -> Self:
        """Take back what ``state`` gave."""
        if set(state) != {"line"}:
            raise DataError(f"not the state of relative-std: it holds {sorted(state)}; fit again")
        line = np.asarray(state["line"], dtype=np.float64)
        if line.shape != (4,) or not np.isfinite(line).all() or line[2] > line[3]:
            raise DataError("the state of relative-std holds no line; fit again")
        self.line_ = line
        return self
