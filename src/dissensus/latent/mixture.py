"""What a latent point stands for when there are many draws: samples from their mixture."""

from __future__ import annotations

import copy

import torch
from torch import Tensor

from dissensus.errors import SettingsError
from dissensus.latent.one_space import check_one_space
from dissensus.latent.points import list_of_size
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

    Each input picks one of the M draws at random, then an x from p(x|z) under that draw. All draws must share
    one latent space (:func:`~dissensus.latent.shared_space`); those of several chains are a SettingsError.
    """
    if inputs < 1:
        raise SettingsError(f"inputs must be at least 1, got {inputs}")
    z = list_of_size(z, model.latent_size)
    check_one_space(model, draws)
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
