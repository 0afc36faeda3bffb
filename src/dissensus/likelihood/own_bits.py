"""Whether a row's bits depend on its place: a test of a model on the machine that it runs on.

A score must depend on the input alone. Inputs are worked on in tiles of one shape, but inside a tile a matrix
product may round a row by where it lies: kernels take rows in blocks, and some of them add up otherwise where
a row's memory is not aligned. The same is true of draws that are evaluated at once, whose weights lie one
after the other. Which networks that happens to is known to nobody but the library's authors, so it is tried
out when a detector is fitted or loaded.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from dissensus.likelihood.matrix import log_likelihoods
from dissensus.likelihood.statistics import input_statistics
from dissensus.models import GenerativeModel
from dissensus.posterior import WeightDraws
from dissensus.tiles import filled

__all__ = ["keeps_bits"]


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

    For one draw, which stands for all: the shapes of the work are the same. Where several draws are evaluated
    at once, it is put at each of their places, and must get the same bits at all of them.
    """
    device = torch.device(device)
    one, everywhere = (draws.select(np.full(n, len(draws) - 1)) for n in (1, model.draws_at_once))

    def found(inputs: Tensor) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        values = log_likelihoods(model, everywhere, inputs, samples=samples, seed=seed, device=device).values
        others = input_statistics(model, one, inputs, device=device)
        return np.vstack([values, *others.values()])

    # As many inputs as a tile has, so that each can be put at each of its places.
    size = max(model.tile(device, samples), model.observed_tile(device))
    some = filled(data[:size], size)
    expected = found(some)
    at_all_places = expected[: model.draws_at_once]
    if not np.array_equal(at_all_places, np.roll(at_all_places, 1, axis=0), equal_nan=True):
        return False
    if not np.array_equal(found(some[:1]), expected[:, :1], equal_nan=True):
        return False
    # Shifts by these lengths, and by their sums, bring a row to every kind of place.
    return all(
        np.array_equal(found(some.roll(shift, 0)), np.roll(expected, shift, axis=1), equal_nan=True)
        for shift in (1, 2, 3, 5, 7, 16, 33)
    )
