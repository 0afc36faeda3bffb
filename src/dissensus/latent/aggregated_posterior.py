"""The density of the encoded training data."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.neighbors import NearestNeighbors

from dissensus.errors import DataError, SettingsError
from dissensus.latent.points import checked_points

__all__ = ["aggregated_posterior"]

_BLOCK = 512  # points at a time, which bounds the memory to _BLOCK · neighbours · Z numbers


def aggregated_posterior(
    z: ArrayLike, means: ArrayLike, log_stds: ArrayLike, *, neighbours: int = 100
) -> NDArray[np.float64]:
    r"""The negated log-density of z under the encodings of N training inputs: (n, Z), two of (N, Z) → (n,).

    .. math:: -\log q(z), \quad q(z) = \frac{1}{N} \sum_i \mathcal N(z;\, \mu_i, \mathrm{diag}\, \sigma_i^2)

    Only the components with the ``neighbours`` nearest means are summed, as in Mahmood et al. (2019); with
    ``neighbours=N`` the density is exact.

    >>> aggregated_posterior([[0.0]], [[0.0]], [[0.0]], neighbours=1).round(4)
    array([0.9189])
    """
    points, centres = checked_points(z), checked_points(means, "means")
    scales = checked_points(log_stds, "log_stds")
    if centres.shape != scales.shape or centres.shape[1] != points.shape[1]:
        raise DataError(
            f"z {points.shape}, means {centres.shape} and log_stds {scales.shape} do not belong together; "
            "all need the same number of dimensions, and the last two the same number of rows"
        )
    if not 1 <= neighbours <= len(centres):
        raise SettingsError(
            f"neighbours must be from 1 to {len(centres)}, the number of means, not {neighbours}"
        )
    nearest = NearestNeighbors(n_neighbors=neighbours, algorithm="brute").fit(centres)
    constant = -0.5 * centres.shape[1] * math.log(2 * math.pi) - math.log(len(centres))
    density = np.empty(len(points))
    for start in range(0, len(points), _BLOCK):
        block = points[start : start + _BLOCK]
        rows = nearest.kneighbors(block, return_distance=False)
        standardised = (block[:, None] - centres[rows]) * np.exp(-scales[rows])
        terms = -0.5 * (standardised**2).sum(axis=2) - scales[rows].sum(axis=2)
        density[start : start + _BLOCK] = constant + logsumexp(terms, axis=1)
    return -density
