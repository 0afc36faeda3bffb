"""What a latent point stands for when there are many draws: samples from their mixture."""

from __future__ import annotations

import copy

import torch
from torch import Tensor

from dissensus.errors import DataError, SettingsError
from dissensus.models import LatentModel
from dissensus.posterior import WeightDraws, load_draw
from dissensus.seeding import torch_stream
from dissensus.torch_threads import threads_for, torch_threads

__all__ = ["mixture_samples"]


@torch.no_grad()
def mixture_samples(
    model: LatentModel,
    draws: WeightDraws,
    z: Tensor,
    *,
    inputs: int = 32,
    seed: int = 0,
    device: torch.device | str = "cpu",
) -> Tensor:
    r"""Inputs decoded from latent points: (n, Z) → (n, inputs, \*S) float32 on ``device``.

    .. math:: x \sim p(x|z, \mathcal D) = \frac{1}{M} \sum_m p(x|z, \theta_m)

    Each input picks one of the M draws at random, then an x from p(x|z) under that draw.
    """
    if inputs < 1:
        raise SettingsError(f"inputs must be at least 1, got {inputs}")
    if z.ndim != 2 or z.shape[1] != model.latent_size:
        raise DataError(f"z must be of shape (points, {model.latent_size}), not {tuple(z.shape)}")
    device = torch.device(device)
    own = copy.deepcopy(model).to(device)
    generator = torch_stream(seed, "latent mixture", device=device)
    points = z.to(device, torch.float32).repeat_interleave(inputs, dim=0)
    chosen = torch.randint(len(draws), (len(points),), generator=generator, device=device)
    samples = torch.empty(len(points), *model.input_shape, device=device)
    weights = sum(parameter.numel() for parameter in own.parameters())
    with torch_threads(threads_for(weights * len(points) // len(draws))):
        for draw in range(len(draws)):
            rows = (chosen == draw).nonzero()[:, 0]
            if len(rows):
                load_draw(own, draws, draw)
                samples[rows] = own.sample(points[rows], generator)
    return samples.view(len(z), inputs, *model.input_shape)
