r"""Vectors of many numbers as their principal components, and how far they lie from them.

Of vectors x (D,) with training mean μ, the directions v_k in which training vectors vary most give the
components

.. math:: z_k = v_k \cdot (x - μ), \qquad k < K ≤ 64,

and what these leave over gives one number more, the logarithm of its length,

.. math:: r = \log \| x - μ - \sum_k z_k v_k \|:

there, a vector may be far from all others in a direction in which none of them varies. Each is standardised
afterwards, which whitens the components.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dissensus.inputs.standardiser import LEARNT, Standardiser

__all__ = ["Components", "without_absurd_values"]

MOST = 64  # components
ROWS_EACH = 5  # training vectors for each component, at least
LEAST_SCALE = 1e-6  # of the largest: what varies less is rounding
LARGEST = 2048  # sides of a matrix that is decomposed; it takes seconds
TINY = 1e-12  # lengths below are none
CHUNK = 1 << 16  # products that are in memory at a time: they fit into a core's own cache


def without_absurd_values(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Vectors (N, D) with every number at most ten deviations from its column's mean."""
    own = Standardiser.fit(vectors)
    reach = LEARNT * own.scale
    return np.clip(vectors, own.mean - reach, own.mean + reach)


@dataclass(frozen=True)
class Components:
    """Projects vectors (N, D) to their components, and to the residual if there are directions left."""

    mean: NDArray[np.float64]
    """(D,)"""
    directions: NDArray[np.float64]
    """(K, D), orthonormal."""

    @classmethod
    def fit(cls, vectors: NDArray[np.float64], rows_each: int = ROWS_EACH) -> Components:
        """Find the directions in which training vectors (N, D) vary most, with absurd values cut off.

        There is at most one of them for each ``rows_each`` vectors.

        >>> line = np.linspace(-1, 1, 50)[:, None] * np.array([3.0, 4.0])
        >>> Components.fit(line).directions.round(3).__abs__()
        array([[0.6, 0.8]])
        """
        near = without_absurd_values(vectors)
        if near.shape[1] > LARGEST:
            near = near[:LARGEST]
        mean = near.mean(axis=0)
        _, scales, directions = np.linalg.svd(near - mean, full_matrices=False)
        count = min(MOST, max(1, len(vectors) // rows_each), int((scales > LEAST_SCALE * scales[0]).sum()))
        return cls(mean, np.ascontiguousarray(directions[: max(1, count)]))

    @property
    def has_residual(self) -> bool:
        """Whether there are directions that are no component."""
        return len(self.directions) < len(self.mean)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the numbers that a vector becomes."""
        components = tuple(f"component {place}" for place in range(len(self.directions)))
        return (*components, "residual") if self.has_residual else components

    def __call__(self, vectors: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return the components, and the residual, (N, K) or (N, K + 1).

        By sums in a fixed order: a matrix product may round a row by its place.
        """
        found, count = np.empty((len(vectors), len(self.names))), len(self.directions)
        size = max(1, CHUNK // self.directions.size)
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, len(vectors), size):
                part = slice(start, start + size)
                # In one layout whatever that of the vectors, for it is what says how a sum is divided.
                centred = np.subtract(vectors[part], self.mean, order="C")
                components = (self.directions * centred[:, None]).sum(axis=2)
                found[part, :count] = components
                if self.has_residual:
                    left = centred - (self.directions * components[:, :, None]).sum(axis=1)
                    found[part, -1] = np.log(np.sqrt(np.square(left).sum(axis=1)) + TINY)
        return found
