"""The density of the encoded training data."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from dissensus.errors import DataError, SettingsError
from dissensus.latent.points import checked_points

__all__ = ["aggregated_posterior"]

_BLOCK = 1 << 24  # numbers at a time, which bounds the memory


def aggregated_posterior(z: Any, means: Any, log_stds: Any, *, neighbours: int = 100) -> Tensor:
    r"""The negated log-density of z under the encodings of N training inputs: (n, Z), two of (N, Z) → (n,).

    .. math:: -\log q(z), \quad q(z) = \frac{1}{N} \sum_i \mathcal N(z;\, \mu_i, \mathrm{diag}\, \sigma_i^2)

    Only the components with the ``neighbours`` nearest means are summed, as in Mahmood et al. (2019); with
    ``neighbours=N`` the density is exact. In float64, and differentiable in z.

    >>> aggregated_posterior([[0.0]], [[0.0]], [[0.0]], neighbours=1)
    tensor([0.9189], dtype=torch.float64)
    """
    points, centres = checked_points(z), checked_points(means, "means")
    scales = checked_points(log_stds, "log_stds")
    if centres.shape != scales.shape or centres.shape[1] != points.shape[1]:
        raise DataError(
            f"z {tuple(points.shape)}, means {tuple(centres.shape)} and log_stds {tuple(scales.shape)} do "
            "not belong together; all need the same number of dimensions, and the last two the same number "
            "of rows"
        )
    if not 1 <= neighbours <= len(centres):
        raise SettingsError(
            f"neighbours must be from 1 to {len(centres)}, the number of means, not {neighbours}"
        )
    constant = -0.5 * centres.shape[1] * math.log(2 * math.pi) - math.log(len(centres))
    most = max(1, _BLOCK // max(len(centres), neighbours * centres.shape[1]))
    density = []
    for block in points.split(most):  # type: ignore[no-untyped-call]
        distance = torch.cdist(block.detach(), centres, compute_mode="donot_use_mm_for_euclid_dist")
        rows = distance.topk(neighbours, dim=1, largest=False).indices
        standardised = (block[:, None] - centres[rows]) * torch.exp(-scales[rows])
        terms = -0.5 * standardised.square().sum(2) - scales[rows].sum(2)
        density.append(constant + terms.logsumexp(1))
    return -torch.cat(density) if density else points.new_empty(0)
