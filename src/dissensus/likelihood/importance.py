r"""Importance sampling of the marginal likelihood, for one tile of inputs under one draw.

.. math:: \log \hat p(x|\theta) = \log \frac1K \sum_k \frac{p(x|z_k,\theta)\, p(z_k)}{q(z_k|x,\varphi)},
          \qquad z_k = \mu(x) + \sigma(x)\, \varepsilon_k
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from dissensus.models import VAE

__all__ = ["from_log_weights", "importance_log_likelihood"]


def importance_log_likelihood(
    vae: VAE, x: Tensor, mean: Tensor, log_std: Tensor, noise: Tensor
) -> tuple[Tensor, Tensor]:
    """log p̂ (n,) in float64 and its Monte-Carlo error (n,) in nats, by the delta method on the weights.

    ``x`` (n, *S) with its encoding ``mean`` and ``log_std`` (n, Z); ``noise`` (K, Z) is shared by all inputs.
    """
    inputs, samples = len(x), len(noise)
    # Input by input, its K samples in a row: (n·K, ...).
    x, mean, log_std = (t.repeat_interleave(samples, dim=0) for t in (x, mean, log_std))
    z = mean + log_std.exp() * noise.repeat(inputs, 1)
    return from_log_weights(vae.log_weight(x, z, mean, log_std).view(inputs, samples))


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
