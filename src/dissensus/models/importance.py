r"""Importance sampling of the marginal likelihood, for one tile of inputs under one draw.

.. math:: \log \hat p(x|\theta) = \log \frac1K \sum_k \frac{p(x|z_k,\theta)\, p(z_k)}{q(z_k|x,\varphi)},
          \qquad z_k = \mu(x) + \sigma(x)\, \varepsilon_k
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from dissensus.tiles import slices

__all__ = [
    "ImportanceSamples",
    "LogProb",
    "from_log_weights",
    "importance_log_likelihood",
    "importance_samples",
]


class ImportanceSamples(NamedTuple):
    """K samples of each of n inputs, before anything is decoded."""

    z: Tensor
    """(n, K, Z)"""
    log_prior_over_q: Tensor
    """log p(z) − log q(z|x) (n, K), in float64."""


def importance_samples(mean: Tensor, log_std: Tensor, noise: Tensor) -> ImportanceSamples:
    """Of inputs with the encoding ``mean`` and ``log_std`` (n, Z); ``noise`` (K, Z) is shared by them all."""
    z = mean[:, None] + log_std.exp()[:, None] * noise
    # All in float64: far from the data both terms are large, and what counts is their difference.
    z64, mean64, log_std64 = z.double(), mean.double()[:, None], log_std.double()[:, None]
    standardised = (z64 - mean64) * torch.exp(-log_std64)
    return ImportanceSamples(z, (0.5 * (standardised.square() - z64.square()) + log_std64).sum(-1))


LogProb = Callable[[Tensor, Tensor], Tensor]
"""log p(x|z) (B,) of inputs (B, *S) at points (B, Z)."""


def importance_log_likelihood(
    log_prob: LogProb, x: Tensor, samples: ImportanceSamples, *, at_once: tuple[int, int] | None = None
) -> tuple[Tensor, Tensor]:
    """log p̂ (n,) in float64 and its Monte-Carlo error (n,) in nats, by the delta method on the weights.

    Of so many inputs x (n, *S), so many samples are decoded ``at_once``; by default all of all.
    """
    # Written into memory that is there already: kept in a list, the tiles' results would lie between their
    # temporaries and keep the heap from closing up.
    log_p = torch.empty_like(samples.log_prior_over_q)
    inputs, places = (slice(0, count) for count in log_p.shape)
    most_inputs, most_places = at_once or (max(1, len(x)), log_p.shape[1])
    for rows in slices(inputs, most_inputs):
        for columns in slices(places, most_places):
            log_p[rows, columns] = _of_samples(log_prob, x[rows], samples.z[rows, columns])
    return from_log_weights(log_p.add_(samples.log_prior_over_q))


def _of_samples(log_prob: LogProb, x: Tensor, z: Tensor) -> Tensor:
    """log p(x|z) (n, K) of inputs x (n, *S) at z (n, K, Z)."""
    inputs, samples, _ = z.shape
    # Input by input, its K samples in a row: (n·K, ...).
    repeated = x[:, None].expand(inputs, samples, *x.shape[1:]).flatten(0, 1)
    # A copy, because kernels add up in another order where memory is aligned otherwise.
    own = z.flatten(0, 1).clone()
    return log_prob(repeated, own).view(inputs, samples)


def from_log_weights(log_weights: Tensor) -> tuple[Tensor, Tensor]:
    """log p̂ (n,) and its Monte-Carlo error (n,) from the log-weights (n, K) of the samples."""
    samples = log_weights.shape[1]
    total = log_weights.logsumexp(dim=1)
    if samples == 1:
        return total, torch.full_like(total, math.nan)
    # With normalised weights w̃ the relative variance of their mean is (K Σw̃² − 1)/(K − 1).
    concentration = (2 * (log_weights - total[:, None])).exp().sum(dim=1)
    error = ((samples * concentration - 1).clamp(min=0) / (samples - 1)).sqrt()
    return total - math.log(samples), error
