"""The matrix every score is made from: the log-likelihood of every input under every draw."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dissensus.errors import SettingsError
from dissensus.likelihood.scorer import MakeScorer, tile_scorer
from dissensus.models import VAE
from dissensus.models.inputs import unit_scale
from dissensus.posterior import WeightDraws, load_weights
from dissensus.seeding import torch_stream

__all__ = ["LogLikelihoods", "log_likelihoods", "noise_floor"]

# Decodings in one call. On a CPU a tile should stay in the caches, on a GPU it should fill the chip.
CPU_ROWS = 64
GPU_ROWS = 16_384


@dataclass(frozen=True)
class LogLikelihoods:
    """log p̂(x_n | θ_m) in nats, with what is needed to judge and to repeat it."""

    values: NDArray[np.float64]
    """(M, N)"""
    errors: NDArray[np.float64]
    """Monte-Carlo error of each value (M, N); NaN for K = 1, which cannot tell."""
    samples: int
    """K"""
    seed: int
    """Of the noise, which all draws and all inputs share."""


def log_likelihoods(
    vae: VAE,
    draws: WeightDraws,
    data: Tensor,
    *,
    samples: int = 32,
    seed: int = 0,
    device: torch.device | str = "cpu",
    on_tile: Callable[[int], None] | None = None,
    scorer: MakeScorer = tile_scorer,
) -> LogLikelihoods:
    """The matrix (M, N) for inputs ``data`` (N, *S), uint8 or float, with K = ``samples`` importance samples.

    The noise is the same for all draws, so it cancels between them, and the same for all inputs, and inputs
    are worked on in tiles of one fixed shape: what an input gets depends on nothing but itself. Memory is
    bounded by a tile, apart from the matrix and one encoding (Z) an input. ``on_tile`` is called with the
    number of (draw, input) pairs just finished.
    """
    if samples < 1:
        raise SettingsError(f"samples must be at least 1, got {samples}")
    device = torch.device(device)
    vae = copy.deepcopy(vae).to(device)
    noise = torch.randn(samples, vae.latent_size, generator=torch_stream(seed, "scoring noise")).to(device)
    size = max(1, (GPU_ROWS if device.type == "cuda" else CPU_ROWS) // samples)
    score = scorer(vae, noise)
    values = np.empty((len(draws), len(data)))
    errors = np.empty_like(values)
    with torch.inference_mode(), torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        for encoder, own_draws in draws.by_encoder():
            load_weights(vae.encoder, draws.encoder_weights(encoder))
            encodings = [vae.encode(tile) for _, tile in _tiles(data, size, device)]
            for draw in own_draws:
                load_weights(vae.decoder, draws.decoder_weights(int(draw)))
                score.load()
                for (rows, tile), encoding in zip(_tiles(data, size, device), encodings, strict=True):
                    value, error = score(tile, *encoding)
                    count = rows.stop - rows.start
                    values[draw, rows] = value[:count].cpu()
                    errors[draw, rows] = error[:count].cpu()
                    if on_tile is not None:
                        on_tile(count)
    return LogLikelihoods(values, errors, samples, seed)


def noise_floor(
    vae: VAE,
    draws: WeightDraws,
    data: Tensor,
    *,
    samples: int,
    seed: int = 0,
    device: torch.device | str = "cpu",
) -> float:
    """How far one draw's log-likelihoods move, in nats, when only the noise changes: less is no disagreement.

    The root mean square difference between two noises over √2, for the last draw.
    """
    last = draws.select(np.array([len(draws) - 1]))
    first, second = (
        log_likelihoods(vae, last, data, samples=samples, seed=other, device=device).values
        for other in (seed, seed + 1)
    )
    return float(np.sqrt(np.mean((first - second) ** 2) / 2))


def _tiles(data: Tensor, size: int, device: torch.device) -> Iterator[tuple[slice, Tensor]]:
    """Row ranges with their inputs, always of one shape: the last tile is filled up with its first row."""
    for start in range(0, len(data), size):
        tile = data[start : start + size]
        rows = slice(start, start + len(tile))
        if len(tile) < size:
            tile = torch.cat([tile, tile[:1].expand(size - len(tile), *tile.shape[1:])])
        yield rows, unit_scale(tile.to(device))
