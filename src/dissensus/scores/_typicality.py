"""Typicality: inputs whose likelihood is unusual in either direction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from dissensus.errors import DataError
from dissensus.scores._contract import Score
from dissensus.scores._likelihood import log_mixture
from dissensus.scores._matrix import FloatArray, checked_matrix
from dissensus.scores._measured import Measured, matrix_of

__all__ = ["Typicality"]


class Typicality(Score):
    r"""The distance of an input's log-likelihood from the inliers' mean (Nalisnick et al., 2019, one input).

    .. math:: \left| \log p(x) - \frac{1}{N} \sum_n \log p(x_n) \right|, \quad
              p(x) = \frac{1}{M} \sum_m p(x|θ_m), \quad x_n \text{ inliers}.

    >>> typicality = Typicality().fit([[-9.0, -11.0]])
    >>> typicality([[-10.0, -13.0, -7.0]])
    array([0., 3., 3.])
    """

    name = "typicality"
    description = "how far its likelihood is from the usual one"
    typical_log_likelihood_: float

    def fit(self, measured: Measured | ArrayLike, /) -> Self:
        """Learn the typical log-likelihood from inliers: (M, N)."""
        values = checked_matrix(matrix_of(measured))
        if values.shape[1] == 0:
            raise DataError("typicality needs at least one inlier to fit on, but the matrix has no columns")
        self.typical_log_likelihood_ = float(log_mixture(values).mean())
        return self

    def __call__(self, measured: Measured | ArrayLike, /) -> FloatArray:
        """Scores of shape (N,) for log-likelihoods of shape (M, N)."""
        self.check_fitted("typical_log_likelihood_")
        return np.abs(log_mixture(checked_matrix(matrix_of(measured))) - self.typical_log_likelihood_)

    def state(self) -> dict[str, FloatArray]:
        """Return the typical log-likelihood, as an array of shape ()."""
        self.check_fitted("typical_log_likelihood_")
        return {"typical_log_likelihood": np.asarray(self.typical_log_likelihood_, dtype=np.float64)}

    def restore(self, state: Mapping[str, FloatArray], /) -> Self:
        """Take back what ``state`` gave."""
        if set(state) != {"typical_log_likelihood"}:
            raise DataError(f"not the state of a typicality score: it holds {sorted(state)}; fit again")
        self.typical_log_likelihood_ = float(state["typical_log_likelihood"])
        return self
