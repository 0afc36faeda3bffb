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
    "log_prior_over_q",
]


class ImportanceSamples(NamedTuple):
    """K samples of each of n inputs, before anything is decoded."""

    z: Tensor
    """(n, K, Z)"""
    log_prior_over_q: Tensor
    """log p(z) − log q(z|x) (n, K), in float64."""


def importance_samples(mean: Tensor, log_std: Tensor, noise: Tensor) -> ImportanceSamples:
    """Of inputs with the proposal N(mean, diag σ²) (n, Z) each; ``noise`` (K, Z) is shared by them all.

    With means and log σ (n, E, Z), the proposal is the even mixture of E normals, and sample k comes from
    number k mod E of them: each has its share of the samples.
    """
    if mean.ndim == 3:
        return _of_mixture(mean, log_std, noise)
    z = mean[:, None] + log_std.exp()[:, None] * noise
    return ImportanceSamples(z, log_prior_over_q(z, mean[:, None], log_std[:, None]))


def log_prior_over_q(z: Tensor, mean: Tensor, log_std: Tensor, noise: Tensor | None = None) -> Tensor:
    """log N(z; 0, I) − log N(z; mean, diag σ²) in float64, of tensors (..., Z) that broadcast: (...).

    ``noise`` is (z − mean)/σ where that is known already.
    """
    # All in float64: far from the data both terms are large, and what counts is their difference.
    z, log_std = z.double(), log_std.double()
    standardised = (z - mean.double()) * torch.exp(-log_std) if noise is None else noise.double()
    return (0.5 * (standardised.square() - z.square()) + log_std).sum(-1)


def _of_mixture(mean: Tensor, log_std: Tensor, noise: Tensor) -> ImportanceSamples:
    proposals = mean.shape[1]
    chosen = torch.arange(len(noise), device=noise.device) % proposals
    z = mean[:, chosen] + log_std[:, chosen].exp() * noise
    each = log_prior_over_q(z[:, :, None], mean[:, None], log_std[:, None])  # (n, K, E)
    return ImportanceSamples(z, math.log(proposals) - (-each).logsumexp(-1))


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
    """log p̂ (n,) and its Monte-Carlo error (n,) from the log-weights (n, K) of the samples.

    On average log p̂ is too low, by error²/2 to first order.
    """
    samples = log_weights.shape[1]
    total = log_weights.logsumexp(dim=1)
    if samples == 1:
        return total, torch.full_like(total, math.nan)
    # With normalised weights w̃ the relative variance of their mean is (K Σw̃² − 1)/(K − 1).
    concentration = (2 * (log_weights - total[:, None])).exp().sum(dim=1)
    error = ((samples * concentration - 1).clamp(min=0) / (samples - 1)).sqrt()
    return total - math.log(samples), error
