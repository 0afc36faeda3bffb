"""How far a point lies from inliers whose coordinates are all normal scores: one class a notion of far."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Protocol, Self

import numpy as np
from scipy.special import logsumexp

from dissensus.errors import DataError
from dissensus.one_thread import one_thread
from dissensus.scores._matrix import FloatArray, times_each_row

__all__ = ["DEPTHS", "Depth", "GaussianDepth", "MixtureDepth"]

LEAST_SHRINKAGE = 0.02  # two statistics that always agree must not make a distance of their rounding errors
PARTS = 6  # Gaussians of a mixture
INLIERS_A_NUMBER = (
    5  # of a Gaussian's mean, at least; where there are fewer inliers there are fewer Gaussians
)
FOLDS, LEAST_FOLDS = 10, 3  # of fewer inliers nothing is known without their own part


class Depth(Protocol):
    """Normal scores (N, J) in, N distances out; larger = further from the inliers it was fitted on."""

    def fit(self, z: FloatArray, /) -> FloatArray:
        """Learn from the normal scores (n, J) of inliers, and say how far each is from the others (n,)."""
        ...

    def __call__(self, z: FloatArray, /) -> FloatArray:
        """Distances (N,)."""
        ...

    def state(self) -> dict[str, FloatArray]:
        """What was learnt, as named arrays."""
        ...

    def restore(self, state: Mapping[str, FloatArray], /) -> Self:
        """Take back what ``state`` gave."""
        ...


class GaussianDepth:
    r"""The squared Mahalanobis distance :math:`z^\top R^{-1} z` with the inliers' shrunk correlation R.

    :math:`R = (1 - λ)\hat R + λ I`, with λ after Schäfer and Strimmer (2005), the summed variance of the
    correlations over their summed squares, and at least 0.02.
    """

    whitener_: FloatArray
    """W (J, J) with WᵀW = R⁻¹."""

    def fit(self, z: FloatArray) -> FloatArray:
        """Learn the correlation."""
        return _out_of_fold(self, z)

    def _fit(self, z: FloatArray) -> None:
        self.whitener_ = _whitener(z)

    def __call__(self, z: FloatArray) -> FloatArray:
        """Distances (N,)."""
        return _squared_lengths(times_each_row(self.whitener_, z))

    def state(self) -> dict[str, FloatArray]:
        """W."""
        return {"whitener": self.whitener_}

    def restore(self, state: Mapping[str, FloatArray]) -> Self:
        """Take back what ``state`` gave."""
        arrays = _arrays(state, "whitener")
        (self.whitener_,) = arrays
        _check_shapes(arrays, ("J", "J"))
        return self


class MixtureDepth:
    r"""The negative log density :math:`-\log \sum_k π_k N(z; μ_k, Σ_k)` of a mixture of up to six Gaussians.

    Found by expectation maximisation from k-means with a fixed seed. Inliers of several kinds need not lie
    around one centre.
    """

    log_weights_: FloatArray
    """log π_k − ½ log det(2πΣ_k): (k,)."""
    means_: FloatArray
    """(k, J)"""
    whiteners_: FloatArray
    """W_k (k, J, J) with W_kᵀW_k = Σ_k⁻¹."""

    def fit(self, z: FloatArray) -> FloatArray:
        """Learn the mixture."""
        with one_thread():
            return _out_of_fold(self, z)

    def _fit(self, z: FloatArray) -> None:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.mixture import GaussianMixture

        n, J = z.shape
        parts = int(np.clip(n // (INLIERS_A_NUMBER * J), 1, PARTS))
        if n == 1:
            z = np.repeat(z, 2, axis=0)  # of one inlier the mean can be known
        mixture = GaussianMixture(parts, reg_covar=LEAST_SHRINKAGE, random_state=0, n_init=2, max_iter=300)
        with warnings.catch_warnings():
            # Duplicates leave k-means with fewer centres than asked for, and a mixture that still moves after
            # so many steps is as good as another: neither is anything to act on.
            warnings.simplefilter("ignore", ConvergenceWarning)
            mixture.fit(z)
        self.means_ = mixture.means_
        # As they come back from a file: another layout in memory would be multiplied with other rounding.
        self.whiteners_ = np.ascontiguousarray(mixture.precisions_cholesky_.swapaxes(1, 2))
        log_determinants = np.log(np.diagonal(self.whiteners_, axis1=1, axis2=2)).sum(axis=1)
        with np.errstate(divide="ignore"):  # a part that nothing belongs to
            log_shares = np.maximum(np.log(mixture.weights_), -1e3)
        self.log_weights_ = log_shares + log_determinants - 0.5 * J * np.log(2 * np.pi)

    def __call__(self, z: FloatArray) -> FloatArray:
        """Distances (N,)."""
        log_densities = [
            weight - 0.5 * _squared_lengths(times_each_row(whitener, z - mean))
            for weight, mean, whitener in zip(self.log_weights_, self.means_, self.whiteners_, strict=True)
        ]
        return -np.asarray(logsumexp(log_densities, axis=0))

    def state(self) -> dict[str, FloatArray]:
        """Weights, means and whiteners."""
        return {"log_weights": self.log_weights_, "means": self.means_, "whiteners": self.whiteners_}

    def restore(self, state: Mapping[str, FloatArray]) -> Self:
        """Take back what ``state`` gave."""
        arrays = _arrays(state, "log_weights", "means", "whiteners")
        self.log_weights_, self.means_, self.whiteners_ = arrays
        _check_shapes(arrays, ("k",), ("k", "J"), ("k", "J", "J"))
        return self


DEPTHS: Mapping[str, Callable[[], Depth]] = MappingProxyType(
    {"gaussian": GaussianDepth, "mixture": MixtureDepth}
)
"""Every depth, by name."""


def _out_of_fold(depth: GaussianDepth | MixtureDepth, z: FloatArray) -> FloatArray:
    """Fits on all inliers (n, J); their distances (n,) are those from nine tenths of them, without their own.

    Among all of them each would lie nearer than a new inlier does, and if they are few, all equally near.
    """
    distances = np.empty(len(z))
    count = min(FOLDS, len(z))
    folds = np.arange(len(z)) % count
    enough = count >= LEAST_FOLDS
    for fold in range(count) if enough else ():
        depth._fit(z[folds != fold])
        distances[folds == fold] = depth(z[folds == fold])
    depth._fit(z)
    return distances if enough else depth(z)


def _whitener(z: FloatArray) -> FloatArray:
    """W (J, J) with WᵀW = R⁻¹ for the shrunk correlation R of normal scores (n, J)."""
    n, J = z.shape
    scale = np.sqrt((z**2).mean(axis=0))
    z = z / np.where(scale > 0.0, scale, 1.0)
    R = z.T @ z / n
    np.fill_diagonal(R, 1.0)  # also where a statistic does not vary
    off = ~np.eye(J, dtype=bool)
    squares = float((R[off] ** 2).sum())
    variances = ((z**2).T @ z**2 / n - R**2) / n
    shrinkage = float(variances[off].sum()) / squares if squares > 0.0 else 1.0
    shrinkage = min(1.0, max(LEAST_SHRINKAGE, shrinkage))
    factor = np.linalg.cholesky((1.0 - shrinkage) * R + shrinkage * np.eye(J))
    return np.asarray(np.linalg.solve(factor, np.eye(J)))


def _squared_lengths(vectors: FloatArray) -> FloatArray:
    """(N, J) → (N,)."""
    return np.asarray((vectors**2).sum(axis=1))


def _arrays(state: Mapping[str, FloatArray], *names: str) -> list[FloatArray]:
    """The named arrays of a state that holds them and no others, all finite."""
    if set(state) != set(names):
        raise DataError(f"not the state of this fusion's depth: it holds {sorted(state)}; fit again")
    arrays = [np.asarray(state[name], dtype=np.float64) for name in names]
    if not all(np.isfinite(array).all() for array in arrays):
        raise DataError("the state of a fusion holds what is no number; fit again")
    return arrays


def _check_shapes(arrays: list[FloatArray], *shapes: tuple[str, ...]) -> None:
    """Refuses arrays in which a letter stands for two different sizes, or for none."""
    sizes: dict[str, int] = {}
    for array, shape in zip(arrays, shapes, strict=True):
        fits = array.ndim == len(shape) and all(array.shape)
        if not fits or any(sizes.setdefault(k, s) != s for k, s in zip(shape, array.shape, strict=True)):
            raise DataError("the shapes in the state of a fusion do not fit together; fit again")
