r"""Components of long vectors on the scale of their own spread, which few rows tell by a shrunk covariance.

With S the covariance of n training vectors in D columns and μ = tr S / D its mean variance,

.. math:: Σ = (1 - λ) S + λ μ I,

λ by Ledoit and Wolf (2004). Along the direction of a component with variance l the deviation is
:math:`\sqrt{(1 - λ) l + λ μ}`; in all directions that are no component it is one number, with
the mean of their variances for l.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dissensus.inputs.components import Components, without_absurd_values

__all__ = ["Whitening"]

FARTHEST = 1e6  # deviations; squares of it are still far from overflowing float32
LEAST = 1e-9  # of the mean variance: what varies less is rounding


@dataclass(frozen=True)
class Whitening:
    """Divides components by their deviations, and the residual by that of one direction."""

    scales: NDArray[np.float64]
    """(K,)"""
    noise: NDArray[np.float64]
    """(1,), or (0,) where the components leave nothing over."""

    @classmethod
    def fit(cls, vectors: NDArray[np.float64], components: Components) -> Whitening:
        """Learns from training vectors (n, D); absurd values are cut off for that."""
        near = without_absurd_values(vectors) - components.mean
        unit = float(np.abs(near).max()) or 1.0  # squares of large numbers would overflow
        near /= unit
        D = near.shape[1]
        left = D - len(components.directions)
        lengths = np.square(near).sum(axis=1)
        mean = float(lengths.mean()) / D
        mean = mean if mean > 0 else 1.0
        shrinkage = _shrinkage(near, lengths, mean)
        along = np.square(near @ components.directions.T).mean(axis=0)
        rest = max(0.0, mean * D - float(along.sum())) / max(left, 1)
        variances = (1 - shrinkage) * np.array([*along, rest]) + shrinkage * mean
        deviations = np.sqrt(np.maximum(variances, LEAST * mean)) * unit
        return cls(deviations[:-1], deviations[-1:] if left else np.empty(0))

    @classmethod
    def none(cls, components: Components) -> Whitening:
        """One scale for all directions: distances stay what they are."""
        K, D = components.directions.shape
        return cls(np.ones(K), np.ones(int(K < D)))

    def __call__(self, projected: NDArray[np.floating]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return whitened components (N, K), and the squared length (N,) of what they leave over.

        ``projected`` are components and, where there is one, the logarithm of the residual's length.
        """
        K = len(self.scales)
        with np.errstate(over="ignore", invalid="ignore"):
            points = np.nan_to_num(projected[:, :K] / self.scales, nan=FARTHEST)
            if len(self.noise):
                logs = 2.0 * (projected[:, K] - np.log(self.noise))
                lengths = np.exp(np.minimum(np.nan_to_num(logs, nan=np.inf), 2.0 * np.log(FARTHEST)))
            else:
                lengths = np.zeros(len(points))
        return np.clip(points, -FARTHEST, FARTHEST).astype(np.float32), lengths.astype(np.float32)


def _shrinkage(near: NDArray[np.float64], lengths: NDArray[np.float64], mean: float) -> float:
    """λ in [0, 1], of centred vectors (n, D), their squared lengths and their mean variance."""
    n, D = near.shape
    gram = near @ near.T if n < D else near.T @ near  # of equal Frobenius norm
    squares = float(np.square(gram).sum()) / n**2
    noise = (float(np.square(lengths).mean()) - squares) / n
    distance = squares - D * mean**2
    return 1.0 if distance <= noise else max(0.0, noise / distance)
