r"""How far an importance-sampled log-likelihood is from the truth, where the truth is known.

The logarithm of a mean of K weights is too low on average. To first order that bias is half the variance,
−error²/2, which :class:`~dissensus.likelihood.LogLikelihoods` states beside the error. Both are estimated
from the same K weights and so cannot see what these missed: with a proposal that is narrower than the
posterior, as encoders tend to be, the largest weights are rare. The jackknife's estimate, recorded too, sees
more of the bias, but needs every weight and falls short as well.

The model is x = W z + b + σ ε with orthogonal columns of W, for which log p(x) and the posterior of z have a
closed form. The proposal misses that posterior by :data:`SHIFT` of its standard deviations in each latent and
is :data:`WIDTH` times as wide.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import multivariate_normal
from torch import Tensor, nn

from benchmarks.checks.asked import Asked
from benchmarks.pieces import Found, Piece
from benchmarks.records import Record
from dissensus.likelihood import log_likelihoods
from dissensus.models import VAE, Gaussian
from dissensus.models.importance import importance_samples
from dissensus.posterior import PartDraws, WeightDraws
from dissensus.seeding import numpy_stream, torch_stream

__all__ = ["Oracle", "linear_gaussian", "pieces", "sentences"]

D, SIGMA = 16, 0.8
LATENTS, SHIFT, WIDTH = 10, 0.4, 0.7
INPUTS = 2  # what is wrong is the same for all of them, but for rounding
NOISES, QUICK = 2000, 5
SAMPLES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


class Oracle(NamedTuple):
    """A VAE with inputs (N, D) whose log-likelihoods (N,) are known."""

    vae: VAE
    draws: WeightDraws
    data: Tensor
    truth: NDArray[np.float64]


def pieces(asked: Asked) -> Iterator[Piece]:
    """One model, any number of samples."""
    noises = QUICK if asked.quick else NOISES
    settings = {"latents": LATENTS, "shift": SHIFT, "width": WIDTH, "samples": SAMPLES, "noises": noises}
    yield Piece("importance", "linear-Gaussian model", settings, partial(_measured, noises))


def sentences(records: list[Record]) -> list[str]:
    """One sentence a number of samples."""
    return [
        f"K = {row['samples']}: a log-likelihood is {-row['bias']:.2f} nats too low on average and spreads "
        f"by {row['spread']:.2f}; stated are a bias of {-row['stated_bias']:.2f} (by the jackknife "
        f"{-row['jackknife_bias']:.2f}) and an error of {row['stated_error']:.2f}."
        for record in records
        for row in record.rows
        if row["stated_error"] is not None
    ]


def _measured(noises: int, say: Callable[[str], None]) -> Found:
    oracle = linear_gaussian(INPUTS)
    rows = []
    for samples in SAMPLES:
        say(f"K = {samples}")
        rows.append(_row(oracle, samples, noises))
    return Found(rows)


def _row(oracle: Oracle, samples: int, noises: int) -> dict[str, Any]:
    """Means over inputs and noises; the spread is that of one input over noises."""
    found = [
        log_likelihoods(oracle.vae, oracle.draws, oracle.data, samples=samples, seed=seed)
        for seed in range(noises)
    ]
    off = np.stack([one.values[0] for one in found]) - oracle.truth  # (noises, N)
    stated = samples > 1  # a single weight tells nothing about the others
    jackknife = [_jackknife(oracle, samples, seed) for seed in range(noises)] if stated else []
    return {
        "samples": samples,
        "bias": float(off.mean()),
        "spread": float(np.sqrt(off.var(axis=0, ddof=1).mean())),
        "stated_error": float(np.mean([one.errors for one in found])) if stated else None,
        "stated_bias": float(np.mean([one.biases for one in found])) if stated else None,
        "jackknife_bias": float(np.mean(jackknife)) if stated else None,
    }


def _jackknife(oracle: Oracle, samples: int, seed: int) -> float:
    """(K − 1) (mean_k log p̂ without sample k − log p̂), of the first input."""
    vae, x = oracle.vae, oracle.data[:1]
    with torch.inference_mode():
        noise = torch.randn(samples, vae.noise_size, generator=torch_stream(seed, "scoring noise"))
        z, log_ratio = importance_samples(*vae.encode(x), noise)
        log_weights = vae.log_prob(x.expand(samples, -1), z[0]) + log_ratio[0]
        # log1p(−w) of normalised weights, from the other weights' sum where one is nearly 1.
        others = log_weights.expand(samples, -1).masked_fill(torch.eye(samples, dtype=torch.bool), -torch.inf)
        without = others.logsumexp(1) - log_weights.logsumexp(0)
    return (samples - 1) * (float(without.mean()) + math.log(samples / (samples - 1)))


def linear_gaussian(
    inputs: int, *, latents: int = LATENTS, shift: float = SHIFT, width: float = WIDTH
) -> Oracle:
    """The model, with inputs drawn from it and an encoder that misses the posterior by so much."""
    random = numpy_stream(0, "linear-Gaussian")
    W = np.linalg.qr(random.normal(size=(D, latents)))[0] * np.linspace(0.5, 1.5, latents)
    b = random.normal(size=D)
    data = random.normal(size=(inputs, latents)) @ W.T + b + SIGMA * random.normal(size=(inputs, D))
    # z | x is normal with this diagonal variance and the mean gain (x − b).
    variance = 1 / (1 + (W**2).sum(0) / SIGMA**2)
    gain = variance[:, None] * W.T / SIGMA**2
    encoder, decoder = nn.Linear(D, 2 * latents), nn.Linear(latents, D)
    means = shift * np.sqrt(variance) - gain @ b
    weights = {
        encoder.weight: np.vstack([gain, np.zeros((latents, D))]),
        encoder.bias: np.concatenate([means, np.log(width * np.sqrt(variance))]),
        decoder.weight: W,
        decoder.bias: b,
    }
    with torch.no_grad():
        for parameter, values in weights.items():
            parameter.copy_(torch.from_numpy(values))
    vae = VAE(encoder, decoder, Gaussian(scale=SIGMA), (D,), latents)
    first = np.zeros(1, dtype=np.int64)
    parts = {
        name: PartDraws({own: p.detach()[None] for own, p in module.named_parameters()}, first)
        for name, module in vae.parts().items()
    }
    x = torch.from_numpy(data).float()
    law = multivariate_normal(b, W @ W.T + SIGMA**2 * np.eye(D))
    truth = np.atleast_1d(law.logpdf(x.double().numpy()))
    return Oracle(vae, WeightDraws(parts, first, first + 1), x, truth)
