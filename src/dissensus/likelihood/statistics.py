"""What a model tells of inputs beside their likelihood, folded over the draws to one number an input each."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from itertools import chain

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dissensus.likelihood.full_precision import full_precision
from dissensus.likelihood.workspace import Weights, on_device, workspace
from dissensus.models import LOG_LIKELIHOOD, GenerativeModel, Observed
from dissensus.posterior import WeightDraws
from dissensus.side_by_side import side_by_side
from dissensus.tiles import filled, slices, tile_ranges
from dissensus.torch_threads import usable_threads

__all__ = ["input_statistics", "one_look", "several_in_a_chain", "statistic_names"]

# Draws are gone through once for each block of tiles, for all dimensions of whose inputs moments are kept: 36
# bytes for each of these numbers. A GPU waits for each draw's weights to arrive, and has the memory.
BLOCK_NUMBERS = {"cpu": 1 << 20, "cuda": 1 << 24}


def input_statistics(
    model: GenerativeModel,
    draws: WeightDraws,
    data: Tensor,
    *,
    only: Collection[str] | None = None,
    device: torch.device | str = "cpu",
    on_tile: Callable[[int], None] | None = None,
    one_a_call: bool = False,
) -> dict[str, NDArray[np.float64]]:
    """Every statistic that the model offers (N,), by name, of inputs ``data`` (N, *S), uint8 or float.

    ``only`` names those that are wanted, if not all are; of what a model tells further, only those named are
    measured. A variance within chains is left out where no chain has several weights of the inference parts:
    it would be zero. Inputs are worked on in tiles of one fixed shape, so what an input gets depends on
    nothing but itself, and memory is bounded by a block of tiles. ``on_tile`` is called with the number of
    (draw, input) pairs just finished; ``one_a_call`` is that of :func:`log_likelihoods`.
    """
    if only is not None and not set(only) & {*model.observed, *model.further}:
        return {}
    return _found(model, draws, data, only, torch.device(device), on_tile, one_a_call, matrix=None)


def one_look(
    model: GenerativeModel,
    draws: WeightDraws,
    data: Tensor,
    *,
    only: Collection[str] | None = None,
    device: torch.device | str = "cpu",
    on_tile: Callable[[int], None] | None = None,
    one_a_call: bool = False,
) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]:
    """A rough log-likelihood (M, N) and the statistics (N,) of inputs, from one evaluation of each draw.

    For models of which :attr:`~dissensus.models.GenerativeModel.observes_likelihood` is true: the matrix is
    what they observe by the name of ``LOG_LIKELIHOOD``, and costs no evaluation beside the statistics'. All
    else is as in :func:`input_statistics`.
    """
    matrix = np.empty((len(draws), len(data)))
    found = _found(model, draws, data, only, torch.device(device), on_tile, one_a_call, matrix=matrix)
    return matrix, found


def _found(
    model: GenerativeModel,
    draws: WeightDraws,
    data: Tensor,
    only: Collection[str] | None,
    device: torch.device,
    on_tile: Callable[[int], None] | None,
    one_a_call: bool,
    *,
    matrix: NDArray[np.float64] | None,
) -> dict[str, NDArray[np.float64]]:
    """The statistics (N,) by name; fills in the rough log-likelihoods (M, N) where a matrix is given."""
    names = statistic_names(model, several=several_in_a_chain(model, draws))
    wanted = {name: model.observed[name] for name in names if only is None or name in only}
    wanted |= {name: how for name, how in model.further.items() if only is not None and name in only}
    found = {name: np.empty(len(data)) for name in wanted}
    size = 1 if one_a_call else model.observed_tile(device)
    shares = tile_ranges(len(data), size, usable_threads() if device.type == "cpu" else 1)
    numbers = BLOCK_NUMBERS.get(device.type, BLOCK_NUMBERS["cpu"])
    block = size * max(1, numbers // (size * math.prod(model.input_shape) * max(1, len(shares))))

    def measured(inputs: slice) -> Iterator[int]:
        """Fills in some inputs; yields how many (draw, input) pairs are done."""
        with workspace(model, device) as own, torch.inference_mode(), full_precision():
            for rows in slices(inputs, block):
                tiles = [_Tile(x, count, wanted) for x, count in _tiles(own, data[rows], size, device)]
                yield from _go_through(own, draws, tiles, likelihoods=matrix is not None)
                if matrix is not None:
                    seen = torch.cat([tile.likelihoods() for tile in tiles], dim=1)
                    matrix[:, rows] = seen[:, : rows.stop - rows.start].cpu()
                parts = [tile.statistics() for tile in tiles]
                for name, values in found.items():
                    values[rows] = torch.cat([part[name] for part in parts])[: rows.stop - rows.start].cpu()

    works = [measured(inputs) for inputs in shares]
    # One thread each, whatever the number of cores: so the bits do not depend on it.
    for pairs in side_by_side(works, threads=1) if device.type == "cpu" else chain.from_iterable(works):
        if on_tile is not None:
            on_tile(pairs)
    return found


def _go_through(
    model: GenerativeModel, draws: WeightDraws, tiles: list[_Tile], *, likelihoods: bool
) -> Iterator[int]:
    """Shows every draw to every tile; yields how many inputs have seen one more."""
    weights = Weights(model, draws, tiles[0].x.device)
    for group in draws.sharing(model.inference):
        weights.load(int(group[0]), model.inference)
        inferred = [model.infer(tile.x) for tile in tiles]
        for draw in group.tolist():
            weights.load(draw)
            for tile, own in zip(tiles, inferred, strict=True):
                fields = model.observe(tile.x, own)
                if further := {how.field for name, how in tile.wanted.items() if name in model.further}:
                    fields = fields | model.observe_further(tile.x, own, further)
                tile.see(fields, int(draws.chain[draw]))
                if likelihoods:
                    tile.rows[draw] = fields[LOG_LIKELIHOOD]
                yield tile.count


class _Tile:
    """Inputs x (B, *S), of which the first ``count`` are wanted, and what is known of them so far."""

    def __init__(self, x: Tensor, count: int, wanted: dict[str, Observed]) -> None:
        self.x, self.count, self.wanted, self.draws = x, count, wanted, 0
        self.rows: dict[int, Tensor] = {}  # rough log-likelihoods (B,) by draw, where they are wanted
        self.sums: dict[str, Tensor] = {}
        self.moments: dict[str, _Moments] = {}  # of fields, over all draws
        self.chains: dict[str, dict[int, _Moments]] = {}  # of fields, by chain

    def see(self, fields: dict[str, Tensor], chain: int) -> None:
        """Takes what one more draw tells."""
        self.draws += 1
        for name, how in self.wanted.items():
            field = fields[how.field]
            if how.fold == "mean":
                self.sums[name] = field.double() + self.sums.get(name, 0.0)
            elif how.fold == "variance":
                self.moments.setdefault(name, _Moments()).add(field.double())
            else:
                self.chains.setdefault(name, {}).setdefault(chain, _Moments()).add(field.double())

    def likelihoods(self) -> Tensor:
        """The rough log-likelihoods (M, B), in the order of the draws."""
        return torch.stack([self.rows[draw] for draw in sorted(self.rows)])

    def statistics(self) -> dict[str, Tensor]:
        """All statistics (B,), once all draws have been seen."""
        found = {name: total / self.draws for name, total in self.sums.items()}
        found |= {name: moments.total_variance() for name, moments in self.moments.items()}
        for name, own in self.chains.items():
            spreads = [moments.total_variance() for moments in own.values() if moments.count > 1]
            found[name] = torch.stack(spreads).mean(0)
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


def statistic_names(model: GenerativeModel, *, several: bool) -> tuple[str, ...]:
    """Return the names of the statistics that a model gives, where chains have several of its weights or not.

    ``several`` is :func:`several_in_a_chain` of the draws.
    """
    return tuple(
        name for name, how in model.observed.items() if several or how.fold != "variance-within-chain"
    )


def several_in_a_chain(model: GenerativeModel, draws: WeightDraws) -> bool:
    """Whether some chain has several weights of the inference parts, which then vary within it."""
    groups = list(draws.sharing(model.inference))
    return len(groups) > len({int(draws.chain[group[0]]) for group in groups})


def _tiles(
    model: GenerativeModel, data: Tensor, size: int, device: torch.device
) -> Iterator[tuple[Tensor, int]]:
    """Inputs with how many there are, always of one shape."""
    for rows in slices(slice(0, len(data)), size):
        yield model.read(on_device(filled(data[rows], size), device)), rows.stop - rows.start
