"""Whitened disagreement: whether the pattern of the draws' disagreement is unusual, not only its size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from dissensus.errors import DataError
from dissensus.scores._contract import Score
from dissensus.scores._matrix import FloatArray, checked_matrix, times_each_row
from dissensus.scores._measured import Measured, matrix_of

__all__ = ["Whitened"]

LEAST_SHRINKAGE = 1e-2  # directions in which inliers hardly differ must not decide alone
ROUNDING = 1e-14  # relative to the log-likelihoods: inliers that differ by less are alike


class Whitened(Score):
    r"""The length of an input's disagreement, measured in the inliers' own disagreement.

    .. math:: s(x) = \sqrt{\tfrac{1}{M-1}\, d^\top \Sigma^{-1} d}, \quad
              d_m = l_m - \bar l - \mathrm{E}_n[l_{mn} - \bar l_n], \quad
              \Sigma = (1 - λ) S + λ v P

    over the M − 1 directions in which draws can differ: P takes the mean over draws away, S (M, M) is the
    inliers' covariance of d and v = tr S/(M − 1) its mean variance. About 1 for inliers. Draws that differ
    about everything count little, and those that usually agree count much. The shrinkage λ is Ledoit and
    Wolf's (2004), at least 0.01: close to 1, which is the plain spread, while inliers are few.

    >>> rng = np.random.default_rng(0)
    >>> inliers = rng.normal(size=(3, 500)) * [[5.0], [0.1], [0.1]]
    >>> odd, common = [[0.0], [1.0], [-1.0]], [[4.0], [0.0], [0.0]]
    >>> np.concatenate([Whitened().fit(inliers)(column) for column in (odd, common)]).round(1)
    array([3.3, 0.6])
    """

    name = "whitened"
    description = "how unlike that of normal inputs the draws’ disagreement is"
    least_draws = 2
    mean_: FloatArray
    """The inliers' mean of each draw's lead (M,)."""
    whitener_: FloatArray
    """W (M, M) with s = ‖W d‖."""

    def fit(self, measured: Measured | ArrayLike, /) -> Self:
        """Learn mean and covariance of the disagreement from inliers: (M, N)."""
        values = checked_matrix(matrix_of(measured), least_draws=2)
        finite = np.isfinite(values).all(axis=0)
        leads = _leads(values[:, finite])
        M, N = leads.shape
        if N == 0:
            raise DataError(
                "whitened disagreement needs at least one inlier that no draw rules out to fit on, but the "
                "matrix has none"
            )
        self.mean_ = leads.mean(axis=1)
        d = leads - self.mean_[:, None]
        S = d @ d.T / N
        v = float(np.trace(S)) / (M - 1)
        alike = v <= (ROUNDING * np.abs(values[:, finite]).max()) ** 2  # nothing to whiten with
        v = 1.0 if alike else v
        everywhere = np.full((M, M), 1.0 / M)
        target = v * (np.eye(M) - everywhere)
        shrinkage = 1.0 if alike else max(LEAST_SHRINKAGE, _ledoit_wolf(d, S, target))
        covariance = (1.0 - shrinkage) * S + shrinkage * target
        # Along (1, …, 1) nothing ever lies; any variance there makes the matrix one that can be inverted.
        factor = np.linalg.cholesky(covariance + v * everywhere)
        self.whitener_ = np.linalg.solve(factor, np.eye(M)) / np.sqrt(M - 1.0)
        return self

    def __call__(self, measured: Measured | ArrayLike, /) -> FloatArray:
        """Scores (N,) for log-likelihoods (M, N); +inf where a draw rules the input out."""
        self.check_fitted("mean_")
        values = checked_matrix(matrix_of(measured), least_draws=2)
        if len(values) != len(self.mean_):
            raise DataError(
                f"whitened disagreement was fitted on {len(self.mean_)} draws, but the matrix has "
                f"{len(values)}; score with the draws it was fitted on"
            )
        finite = np.isfinite(values).all(axis=0)
        lengths = np.full(values.shape[1], np.inf)
        d = _leads(values[:, finite]) - self.mean_[:, None]
        lengths[finite] = np.linalg.norm(times_each_row(self.whitener_, d.T), axis=1)
        return lengths

    def state(self) -> dict[str, FloatArray]:
        """Return what was learnt: the mean (M,) and the whitener (M, M)."""
        self.check_fitted("mean_")
        return {"mean": self.mean_, "whitener": self.whitener_}

    def restore(self, state: Mapping[str, FloatArray], /) -> Self:
        """Take back what ``state`` gave."""
        if set(state) != {"mean", "whitener"}:
            raise DataError(f"not the state of whitened disagreement: it holds {sorted(state)}; fit again")
        mean, whitener = (np.asarray(state[name], dtype=np.float64) for name in ("mean", "whitener"))
        if mean.ndim != 1 or whitener.shape != (len(mean), len(mean)):
            raise DataError(
                f"the state of whitened disagreement has shapes {mean.shape} and {whitener.shape} where "
                "(M,) and (M, M) belong; fit again"
            )
        if not (np.isfinite(mean).all() and np.isfinite(whitener).all()):
            raise DataError("the state of whitened disagreement holds what is no number; fit again")
        self.mean_, self.whitener_ = mean, whitener
        return self


def _leads(values: FloatArray) -> FloatArray:
    """How far each draw is above the mean of all draws, for each input: (M, N) → (M, N)."""
    lead: FloatArray = values - values.mean(axis=0)
    return lead


def _ledoit_wolf(d: FloatArray, S: FloatArray, target: FloatArray) -> float:
    """How much of the target a covariance S (M, M) of columns d (M, N) should be made of, in [0, 1]."""
    N = d.shape[1]
    # Σ_n ‖d_n d_nᵀ − S‖² = Σ_n ‖d_n‖⁴ − N ‖S‖², in units of ‖S − target‖²
    lengths: FloatArray = (d**2).sum(axis=0)
    noise = float((lengths**2).sum() - N * (S**2).sum()) / N**2
    distance = float(((S - target) ** 2).sum())
    return 1.0 if distance <= noise else max(0.0, noise / distance)
