"""Part (g): how far every way to score is from float64, on 64 inputs under trained weights."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor

from benchmarks.speed.scoring_paths import scoring_paths
from benchmarks.speed.sizes import Sizes
from benchmarks.speed.subject import conv_vae, images, with_weights
from dissensus.likelihood import log_likelihoods
from dissensus.models import VAE
from dissensus.models.importance import importance_log_likelihood, importance_samples
from dissensus.models.inputs import unit_scale
from dissensus.models.observation import OBSERVATIONS
from dissensus.posterior import SamplingSettings, WeightDraws, sample_posterior
from dissensus.seeding import torch_stream

__all__ = ["measure_accuracy"]

INPUTS = 64
SAMPLES = 16


def measure_accuracy(sizes: Sizes, device: torch.device) -> dict[str, Any]:
    """The largest |Δ log p̂| over inputs and draws, in nats, by observation model and path."""
    training = images(min(sizes.training_images, 6144)).to(device)
    held_out = images(len(training) + INPUTS)[-INPUTS:]
    rows = []
    for name in OBSERVATIONS:
        vae = conv_vae(name)
        wide = vae.observation.parameters_per_dimension > 2
        data = training[: max(256, len(training) // 8)] if wide else training
        settings = SamplingSettings.variant_1(
            epochs=sizes.accuracy_epochs, burn_in=max(1, sizes.accuracy_epochs - 1), batch_size=128
        )
        draws = sample_posterior(vae, data, settings, seed=0)
        exact = _float64(vae, draws, held_out)
        for path, scorer in scoring_paths(device).items():
            found = log_likelihoods(vae, draws, held_out, samples=SAMPLES, device=device, scorer=scorer)
            difference = (torch.from_numpy(found.values) - exact).abs()
            rows.append(
                {
                    "observation": name,
                    "path": path,
                    "largest_difference": float(difference.max()),
                    "largest_relative": float((difference / exact.abs()).max()),
                    "mean_log_likelihood": float(exact.mean()),
                }
            )
    return {
        "settings": {"inputs": INPUTS, "samples": SAMPLES, "epochs": sizes.accuracy_epochs},
        "differences": rows,
        "comparisons": [],
    }


def _float64(vae: VAE, draws: WeightDraws, data: Tensor) -> Tensor:
    """The matrix (M, N) with everything in float64, on the CPU; the encoding is what float32 gives.

    The encoding decides where z is sampled, which is a choice and no error: a better or a worse q gives
    another estimate of the same number.
    """
    noise = torch.randn(SAMPLES, vae.latent_size, generator=torch_stream(0, "scoring noise"))
    x = unit_scale(data)
    rows = []
    for draw in range(len(draws)):
        own = with_weights(copy.deepcopy(vae), draws, draw)
        with torch.no_grad():
            mean, log_std = own.encode(x)
            samples = importance_samples(mean.double(), log_std.double(), noise.double())
            rows.append(importance_log_likelihood(own.double(), x.double(), samples)[0])
    return torch.stack(rows)
