r"""The density of training rows as a mixture of Gaussians: :math:`-\log \sum_k π_k N(x; μ_k, Σ_k)`."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dissensus.inputs.neighbours import summed
from dissensus.inputs.standardiser import LEARNT
from dissensus.one_thread import one_thread

__all__ = ["Gaussians"]

PARTS, ROWS_EACH = 10, 50  # Gaussians, and the different rows for each, at least
LEAST_VARIANCE = 1e-3  # of a standardised column: what never varies must not decide alone
MOST_ROWS = 10_000  # of which a mixture is learnt; more take long and teach it nothing
LEAST_LOG_SHARE = -1e3  # of a part that no row belongs to
CHUNK = 1 << 19  # whitened numbers that are in memory at a time
SMALL = 1 << 13  # numbers of a matrix that libraries multiply with a row without threads


@dataclass(frozen=True)
class Gaussians:
    """Parts of a mixture: log π_k − ½ log det(2πΣ_k) (k,), means (k, D) and W_k (k, D, D), WᵀW = Σ⁻¹."""

    log_weights: NDArray[np.float64]
    means: NDArray[np.float64]
    whiteners: NDArray[np.float64]

    @classmethod
    def fit(cls, rows: NDArray[np.float32], different: int, random: np.random.Generator) -> Gaussians:
        """Learns from standardised training rows (n, D), of which so many are different."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.mixture import GaussianMixture

        if len(rows) > MOST_ROWS:
            rows = rows[np.sort(random.permutation(len(rows))[:MOST_ROWS])]
        near = np.clip(rows, -LEARNT, LEARNT).astype(np.float64)
        if len(near) == 1:
            near = np.repeat(near, 2, axis=0)  # of one row the mean can be known
        parts = int(np.clip(min(different, len(near)) // ROWS_EACH, 1, PARTS))
        mixture = GaussianMixture(
            parts, reg_covar=LEAST_VARIANCE, random_state=int(random.integers(1 << 31)), max_iter=100
        )
        with warnings.catch_warnings(), one_thread():
            # A mixture that still moves after so many steps is as good as another: nothing to act on.
            warnings.simplefilter("ignore", ConvergenceWarning)
            mixture.fit(near)
        # As they come back from a file: another layout in memory would be multiplied with other rounding.
        whiteners = np.ascontiguousarray(mixture.precisions_cholesky_.swapaxes(1, 2))
        log_determinants = np.log(np.diagonal(whiteners, axis1=1, axis2=2)).sum(axis=1)
        with np.errstate(divide="ignore"):
            log_shares = np.maximum(np.log(mixture.weights_), LEAST_LOG_SHARE)
        constants = log_shares + log_determinants - 0.5 * near.shape[1] * np.log(2 * np.pi)
        return cls(constants, mixture.means_, whiteners)

    def __call__(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return −log density (N,) of standardised rows (N, D)."""
        found = np.empty(len(rows))
        size = max(1, CHUNK // self.means.size)
        for start in range(0, len(rows), size):
            part = slice(start, start + size)
            found[part] = self._chunk(rows[part].astype(np.float64))
        return found

    def _chunk(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        parts, D = self.means.shape
        logs = np.empty((parts, len(rows)))
        several = max(1, SMALL // (D * D))
        for start in range(0, parts, several):
            own = slice(start, start + several)
            whiteners = self.whiteners[own].reshape(-1, D)
            # One product of all rows would be rounded in a way that depends on their number.
            white = np.matmul(whiteners, rows[:, :, None])[:, :, 0]
            white -= (self.whiteners[own] * self.means[own, None]).sum(axis=2).reshape(-1)
            squares = np.square(white).T.reshape(-1, D, len(rows)).swapaxes(0, 1)
            logs[own] = self.log_weights[own, None] - 0.5 * summed(squares)
        most = logs.max(axis=0)
        densities: NDArray[np.float64] = -(most + np.log(summed(np.exp(logs - most))))
        return densities
