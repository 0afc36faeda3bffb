r"""Likelihood regret: how much better an input is explained once its posterior is fitted to it alone.

.. math:: \mathrm{LR}(x) = \max_{μ, σ} L(x; μ, σ) - L(x; μ_φ(x), σ_φ(x)), \qquad
          L = \mathrm{E}_{z \sim N(μ, σ^2)} \log p(x|z,θ) - \mathrm{KL}(N(μ, σ^2) \,\|\, N(0, I))

The encoder knows how to explain inputs like those it was trained on; others gain more (Xiao et al., 2020). It
takes thousands of decodings and their gradients an input: a reference to compare with, not a score to use.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dissensus.errors import SettingsError
from dissensus.models.inputs import unit_scale
from dissensus.models.vae.model import LOG_STD_RANGE, VAE
from dissensus.seeding import torch_stream
from dissensus.side_by_side import side_by_side
from dissensus.tiles import filled, slices, tile_ranges
from dissensus.torch_threads import usable_threads

__all__ = ["likelihood_regret"]

# Decodings in one call.
CPU_ROWS = 64
GPU_ROWS = 16_384


def likelihood_regret(
    vae: VAE,
    data: Tensor,
    *,
    steps: int = 200,
    learning_rate: float = 0.05,
    samples: int = 8,
    seed: int = 0,
    device: torch.device | str = "cpu",
    on_tile: Callable[[int], None] | None = None,
) -> NDArray[np.float64]:
    """The regret (N,) in nats of inputs ``data`` (N, *S), uint8 or float; higher = more out-of-distribution.

    ``vae`` is one model with the weights it holds: a plain VAE, or one draw
    (:func:`dissensus.posterior.load_weights`). From the encoder's answer, ``steps`` steps of Adam are taken
    on μ and log σ, the ELBO being estimated anew by ``samples`` z in each, with a rate that falls to zero;
    before and after are compared on 8·``samples`` others. The noise is the same for all inputs, and inputs
    are worked on in tiles of one fixed shape: what an input gets depends on nothing but itself.
    """
    if steps < 1 or samples < 1 or not learning_rate > 0:
        raise SettingsError(
            f"steps={steps}, samples={samples} and learning_rate={learning_rate} must all be positive"
        )
    device = torch.device(device)
    vae = copy.deepcopy(vae).to(device).requires_grad_(False)
    random = torch_stream(seed, "regret")
    noise = torch.randn(steps, samples, vae.latent_size, generator=random).to(device)
    judging = torch.randn(8 * samples, vae.latent_size, generator=random).to(device)
    size = max(1, (GPU_ROWS if device.type == "cuda" else CPU_ROWS) // samples)
    regrets = np.empty(len(data))

    def found(inputs: slice) -> Iterator[int]:
        """Fills in some inputs; yields how many are done."""
        for rows in slices(inputs, size):
            count = rows.stop - rows.start
            tile = unit_scale(filled(data[rows], size).to(device))
            regrets[rows] = _regret(vae, tile, noise, judging, learning_rate)[:count].cpu()
            yield count

    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        if device.type == "cpu":
            works = [found(inputs) for inputs in tile_ranges(len(data), size, usable_threads())]
            done = side_by_side(works, threads=1)
        else:
            done = found(slice(0, len(data)))
        for count in done:
            if on_tile is not None:
                on_tile(count)
    return regrets


def _regret(vae: VAE, x: Tensor, noise: Tensor, judging: Tensor, learning_rate: float) -> Tensor:
    """Regrets (B,) of x (B, *S), with noise (T, K, Z) for the steps and (J, Z) for the comparison."""
    with torch.no_grad():
        start = vae.encode(x)
    mean, log_std = (part.clone().requires_grad_() for part in start)
    optimiser = torch.optim.Adam([mean, log_std], lr=learning_rate)
    falling = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.0, total_iters=len(noise))
    for eps in noise:
        optimiser.zero_grad()
        # The sum over inputs: Adam scales each number by its own gradients, so inputs do not see each other.
        (-_elbo(vae, x, mean, log_std, eps).sum()).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        falling.step()
    with torch.no_grad():
        # A chunk of the noise at a time: as many decodings as in a step.
        chunks = judging.view(-1, *noise.shape[1:])
        gains = [_elbo(vae, x, mean, log_std, eps) - _elbo(vae, x, *start, eps) for eps in chunks]
        return torch.stack(gains).mean(0)


def _elbo(vae: VAE, x: Tensor, mean: Tensor, log_std: Tensor, noise: Tensor) -> Tensor:
    """The ELBO (B,) in float64 of x (B, *S) under N(mean, σ²), (B, Z), with z = mean + σ·noise (K, Z)."""
    log_std = log_std.clamp(*LOG_STD_RANGE)
    std = log_std.exp()
    kl = (0.5 * (std.square() + mean.square() - 1) - log_std).sum(1, dtype=torch.float64)
    z = mean[:, None] + std[:, None] * noise
    repeated = x.repeat_interleave(len(noise), dim=0)
    log_p = vae.observation.log_prob(repeated, vae.decode(z.flatten(0, 1)))
    return log_p.view(len(x), len(noise)).mean(1) - kl
