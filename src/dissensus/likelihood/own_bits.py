"""Whether a row's bits depend on its place: a test of a model on the machine that it runs on.

A score must depend on the input alone. Inputs are worked on in tiles of one shape, but inside a tile a matrix
product may round a row by where it lies: kernels take rows in blocks, and some of them add up otherwise where
a row's memory is not aligned. The same is true of draws that are evaluated at once, whose weights lie one
after the other. Which networks that happens to is known to nobody but the library's authors, so it is tried
out when a detector is fitted or loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dissensus.likelihood.matrix import log_likelihoods
from dissensus.likelihood.statistics import input_statistics, one_look
from dissensus.models import GenerativeModel, Scorer
from dissensus.posterior import WeightDraws

__all__ = ["keeps_bits"]


# What a place does to the last bit of a layer shows in few results: in one of a hundred for some networks,
# and hardly ever where a draw leaves most units at zero. So every place is shown many inputs under several
# draws.
DRAWS, TILES, INPUTS = 8, 4, 32
SHIFTS = (1, 2, 3, 7)  # a place that differs from the next one shows at the first

Found: TypeAlias = NDArray[np.float64]


def keeps_bits(
    model: GenerativeModel,
    draws: WeightDraws,
    data: Tensor,
    *,
    samples: int,
    seed: int = 0,
    device: torch.device | str = "cpu",
) -> bool:
    """Whether some inputs (n, *S) get the same bits alone, and at every place among the others.

    Asked about several draws; where several are evaluated at once, each of them is put at each of their
    places too. The more inputs there are, up to four tiles of them, the surer is the answer.
    """
    device = torch.device(device)
    several = np.unique(np.linspace(0, len(draws) - 1, DRAWS).astype(np.int64))
    at_once = model.draws_at_once
    chosen, everywhere = draws.select(several), draws.select(np.repeat(several, at_once))

    def equal_samples(own: GenerativeModel, noise: Tensor, tile: int) -> Scorer:
        """The model's own scorer, for K times the same sample: none has a weight too small to be noticed."""
        return own.scorer(noise[:1].expand_as(noise).contiguous(), tile)

    def values(inputs: Tensor) -> Found:
        return log_likelihoods(
            model, everywhere, inputs, samples=samples, seed=seed, device=device, scorer=equal_samples
        ).values

    def others(inputs: Tensor) -> Found:
        rows: list[Found] = []
        if model.observes_likelihood:
            matrix, found = one_look(model, chosen, inputs, device=device)
            rows = [*matrix]
        else:
            found = input_statistics(model, chosen, inputs, device=device)
        rows += found.values()
        return np.array(rows).reshape(len(rows), len(inputs))

    if not _same_everywhere(others, data, model.observed_tile(device)):
        return False
    tile = model.tile(device, samples)
    if at_once > 1:
        found = values(data[:tile]).reshape(len(several), at_once, -1)
        if not np.array_equal(found, np.roll(found, 1, axis=1), equal_nan=True):
            return False
    return _same_everywhere(values, data, tile)


def _same_everywhere(find: Callable[[Tensor], Found], data: Tensor, tile: int) -> bool:
    """Whether inputs get the same numbers (…, n) at each place of a tile, and the first of them alone."""
    if tile == 1:
        return True
    some = data[torch.arange(tile * max(TILES, -(-INPUTS // tile))) % len(data)]
    expected = find(some)
    if not np.array_equal(find(some[:1]), expected[:, :1], equal_nan=True):
        return False
    return all(
        np.array_equal(find(some.roll(shift, 0)), np.roll(expected, shift, axis=1), equal_nan=True)
        for shift in SHIFTS
        if shift < tile
    )
