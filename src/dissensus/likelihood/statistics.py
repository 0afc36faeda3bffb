"""Statistics of inputs under the draws that cost one decoding a draw: of latents, reconstructions, pixels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dissensus.likelihood.full_precision import full_precision
from dissensus.likelihood.tiles import filled, slices, tile_ranges
from dissensus.likelihood.workspace import on_device, use_weights, workspace
from dissensus.models import VAE
from dissensus.models.inputs import unit_scale
from dissensus.posterior import WeightDraws
from dissensus.side_by_side import side_by_side
from dissensus.torch_threads import usable_threads

__all__ = ["STATISTICS", "Statistic", "input_statistics"]

# Inputs in one call of a network; of images few, as a single one pays for a whole tile: with 64 it would take
# 2.4 times as long to score, and many no less. Draws are gone through once for each block of tiles, for all
# dimensions of whose inputs moments are kept: 36 bytes for each of these numbers.
CPU_IMAGE_ROWS = 8
CPU_VECTOR_ROWS = 64
GPU_ROWS = 4096
BLOCK_NUMBERS = 1 << 20


@dataclass(frozen=True)
class Statistic:
    """What there is to know about a statistic before using it."""

    description: str
    tails: Literal["upper", "both"]
    """Where outliers are found: among high values, or among low ones too."""


STATISTICS: Mapping[str, Statistic] = MappingProxyType(
    {
        "latent-norm": Statistic("log of the squared length of the encoding, log ‖μ_z‖²", "both"),
        "latent-scale": Statistic("log volume of the encoding, Σ log σ_z²", "both"),
        "reconstruction": Statistic("squared distance to the reconstruction, ‖x − x̂‖²", "upper"),
        "corrected-ll": Statistic("best log p(x|·) of any decoder less that at z = μ_z", "upper"),
        "pixel-variance": Statistic("variance of log p(x_d|z = μ_z) over draws, summed over d", "upper"),
        "reconstruction-spread": Statistic("variance of x̂ over draws, summed over d", "upper"),
        "latent-spread": Statistic("variance of μ_z over the encoders of a chain, summed over z", "upper"),
    }
)
"""Every statistic, by name. All but the variances are means over draws. Together they cost one decoding a
draw: 1/K of the log-likelihood matrix, and a little arithmetic."""


def input_statistics(
    vae: VAE,
    draws: WeightDraws,
    data: Tensor,
    *,
    device: torch.device | str = "cpu",
    on_tile: Callable[[int], None] | None = None,
) -> dict[str, NDArray[np.float64]]:
    """Every statistic of :data:`STATISTICS` (N,), by name, of inputs ``data`` (N, *S), uint8 or float.

    ``latent-spread`` is left out where no chain has more than one encoder: the latent spaces of different
    chains cannot be compared. Inputs are worked on in tiles of one fixed shape, so what an input gets depends
    on nothing but itself, and memory is bounded by a block of tiles. ``on_tile`` is called with the number of
    (draw, input) pairs just finished.
    """
    device = torch.device(device)
    size = _tile_rows(vae, device)
    shares = tile_ranges(len(data), size, usable_threads() if device.type == "cpu" else 1)
    block = size * max(1, BLOCK_NUMBERS // (size * math.prod(vae.input_shape) * max(1, len(shares))))
    found = {name: np.empty(len(data)) for name in _names(draws)}

    def measured(inputs: slice) -> Iterator[int]:
        """Fills in some inputs; yields how many (draw, input) pairs are done."""
        with workspace(vae, device) as own, torch.inference_mode(), full_precision():
            for rows in slices(inputs, block):
                tiles = [_Tile(*tile) for tile in _tiles(data[rows], size, device)]
                yield from _go_through(own, draws, tiles)
                parts = [tile.statistics(own, len(draws)) for tile in tiles]
                for name, values in found.items():
                    values[rows] = torch.cat([part[name] for part in parts])[: rows.stop - rows.start].cpu()

    works = [measured(inputs) for inputs in shares]
    # One thread each, whatever the number of cores: so the bits do not depend on it.
    for pairs in side_by_side(works, threads=1) if device.type == "cpu" else chain.from_iterable(works):
        if on_tile is not None:
            on_tile(pairs)
    return found


def _go_through(vae: VAE, draws: WeightDraws, tiles: list[_Tile]) -> Iterator[int]:
    """Shows every draw to every tile; yields how many inputs have seen one more."""
    device = tiles[0].x.device
    encoder_parameters = dict(vae.encoder.named_parameters())
    decoder_parameters = dict(vae.decoder.named_parameters())
    for encoder, own_draws in draws.by_encoder():
        use_weights(encoder_parameters, draws.encoder_weights(encoder), device)
        for tile in tiles:
            tile.encode(vae, int(draws.chain[own_draws[0]]), len(own_draws))
        for draw in own_draws:
            use_weights(decoder_parameters, draws.decoder_weights(int(draw)), device)
            for tile in tiles:
                tile.decode(vae)
                yield tile.count


class _Tile:
    """Inputs x (B, *S), of which the first ``count`` are wanted, and what is known of them so far."""

    def __init__(self, x: Tensor, count: int) -> None:
        self.x, self.count = x, count
        zeros = torch.zeros(len(x), dtype=torch.float64, device=x.device)
        self.log_norm, self.log_volume, self.distance = (zeros.clone() for _ in range(3))
        self.terms, self.reconstructions = _Moments(), _Moments()
        self.codes: dict[int, _Moments] = {}  # by chain

    def encode(self, vae: VAE, chain: int, draws: int) -> None:
        """Takes the present encoder, for so many draws."""
        self.mean, log_std = vae.encode(self.x)
        mean = self.mean.double()
        norm = mean.square().sum(1).clamp(min=torch.finfo(torch.float64).tiny)  # zeros have a logarithm too
        self.log_norm += draws * norm.log()
        self.log_volume += draws * 2 * log_std.sum(1, dtype=torch.float64)
        self.codes.setdefault(chain, _Moments()).add(mean)

    def decode(self, vae: VAE) -> None:
        """Takes the present decoder, at z = the present encoder's mean."""
        parameters = vae.decode(self.mean)
        reconstruction = vae.observation.mean(parameters)
        self.distance += (self.x - reconstruction).flatten(1).square().sum(1, dtype=torch.float64)
        self.terms.add(vae.observation.log_prob_terms(self.x, parameters).double())
        self.reconstructions.add(reconstruction.double())

    def statistics(self, vae: VAE, draws: int) -> dict[str, Tensor]:
        """All statistics (B,), once all draws have been seen."""
        found = {
            "latent-norm": self.log_norm / draws,
            "latent-scale": self.log_volume / draws,
            "reconstruction": self.distance / draws,
            "corrected-ll": vae.observation.best_log_prob(self.x) - self.terms.mean.flatten(1).sum(1),
            "pixel-variance": self.terms.total_variance(),
            "reconstruction-spread": self.reconstructions.total_variance(),
        }
        spreads = [codes.total_variance() for codes in self.codes.values() if codes.count > 1]
        if spreads:
            found["latent-spread"] = torch.stack(spreads).mean(0)
        return found


class _Moments:
    """Mean and variance, number by number, of tensors that come one after the other (Welford, 1962)."""

    def __init__(self) -> None:
        self.count = 0

    def add(self, values: Tensor) -> None:
        """One more."""
        if self.count == 0:
            self.mean, self.squares = torch.zeros_like(values), torch.zeros_like(values)
        self.count += 1
        step = values - self.mean
        self.mean.add_(step, alpha=1 / self.count)
        self.squares.addcmul_(step, values - self.mean)

    def total_variance(self) -> Tensor:
        """The variances (divisor: how many there were), summed over all but the first axis: (B,)."""
        return self.squares.flatten(1).sum(1) / self.count


def _tile_rows(vae: VAE, device: torch.device) -> int:
    """Inputs of a tile."""
    if device.type == "cuda":
        return GPU_ROWS
    return CPU_VECTOR_ROWS if len(vae.input_shape) == 1 else CPU_IMAGE_ROWS


def _names(draws: WeightDraws) -> list[str]:
    """The statistics that these draws give."""
    pairs = set(zip(draws.chain.tolist(), draws.encoder_of.tolist(), strict=True))
    several = len(pairs) > len({chain for chain, _ in pairs})
    return [name for name in STATISTICS if several or name != "latent-spread"]


def _tiles(data: Tensor, size: int, device: torch.device) -> Iterator[tuple[Tensor, int]]:
    """Inputs with how many there are, always of one shape."""
    for rows in slices(slice(0, len(data)), size):
        yield unit_scale(on_device(filled(data[rows], size), device)), rows.stop - rows.start
