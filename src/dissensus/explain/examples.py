"""Training inputs that are kept to show those most like an input."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dissensus.likelihood.workspace import workspace
from dissensus.models import GenerativeModel
from dissensus.posterior import WeightDraws, load_draw
from dissensus.seeding import numpy_stream
from dissensus.torch_threads import torch_threads

__all__ = ["Examples", "choose_examples", "first_codes"]

TILE = 32  # inputs encoded in one call
MOST_BYTES = 2**24  # of examples: a saved detector stays small whatever the size of the pictures


@dataclass(frozen=True)
class Examples:
    """Some training inputs with their places in latent space, to find those most like an input."""

    inputs: NDArray[Any]
    """(E, H, W, C) or (E, D), as they were given."""
    codes: NDArray[np.float32]
    """(E, F): the model's features of them under the first draw, such as the means of q(z|x)."""

    def nearest(
        self, codes: NDArray[np.float32], count: int
    ) -> list[tuple[NDArray[Any], NDArray[np.float64]]]:
        """Find for each of the codes (N, Z) the ``count`` nearest inputs, and how far they are."""
        found = []
        for code in codes.astype(np.float64):
            distances = np.sqrt(((self.codes - code) ** 2).sum(axis=1))
            order = np.argsort(distances, kind="stable")[:count]
            found.append((self.inputs[order], distances[order]))
        return found


def first_codes(
    model: GenerativeModel, draws: WeightDraws, data: Tensor, *, device: torch.device | str = "cpu"
) -> NDArray[np.float32]:
    """Return the model's features (N, F) of inputs ``data`` (N, *S) under the first draw."""
    device = torch.device(device)
    with workspace(model, device) as own, torch.inference_mode(), torch_threads(1):
        load_draw(own, draws, 0)
        parts = [
            own.features(own.read(data[start : start + TILE].to(device))).float().cpu().numpy()
            for start in range(0, max(1, len(data)), TILE)
        ]
    return np.concatenate(parts)


def choose_examples(total: int, shown: NDArray[Any], *, count: int, seed: int) -> NDArray[np.int64]:
    """Choose at most ``count`` of ``total`` inputs by chance; return their numbers in order.

    There are fewer if inputs that are ``shown`` (n, *S) as these are so large that 16 MiB hold no more.
    """
    largest = MOST_BYTES // max(1, math.prod(shown.shape[1:]) * shown.itemsize)
    return np.sort(numpy_stream(seed, "examples").permutation(total)[: min(count, total, largest)])
