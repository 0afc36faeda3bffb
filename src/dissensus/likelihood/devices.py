"""The log-likelihood matrix with its draws divided between several devices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dissensus.likelihood.matrix import LogLikelihoods, log_likelihoods
from dissensus.models import GenerativeModel
from dissensus.posterior import WeightDraws
from dissensus.side_by_side import side_by_side
from dissensus.tiles import tile_ranges
from dissensus.torch_threads import usable_threads

__all__ = ["log_likelihoods_on"]


def log_likelihoods_on(
    devices: Sequence[torch.device],
    model: GenerativeModel,
    draws: WeightDraws,
    data: Tensor,
    *,
    on_tile: Callable[[int], None] | None = None,
    **settings: Any,
) -> LogLikelihoods:
    """Return what :func:`log_likelihoods` gives on one of the devices; the other arguments are its own.

    Each device has some of the draws. The paper's mixture of proposals takes all of them, and stays on one.
    """
    together = settings.get("proposal") == "pooled"
    # Draws that are evaluated at once stay together, so that their places do not depend on the devices.
    shares = tile_ranges(len(draws), model.draws_at_once, 1 if together else len(devices))
    if len(shares) < 2:
        return log_likelihoods(model, draws, data, device=devices[0], on_tile=on_tile, **settings)
    found: list[LogLikelihoods | None] = [None] * len(shares)

    def score(number: int) -> Iterator[int]:
        device, own = devices[number], np.arange(len(draws))[shares[number]]
        pairs: list[int] = []
        with torch.cuda.device(device) if device.type == "cuda" else nullcontext():
            found[number] = log_likelihoods(
                model, draws.select(own), data, device=device, on_tile=pairs.append, **settings
            )
        yield sum(pairs)

    threads = max(1, usable_threads() // len(shares))
    for done in side_by_side([score(number) for number in range(len(shares))], threads=threads):
        if on_tile is not None:
            on_tile(done)
    parts = [part for part in found if part is not None]
    return LogLikelihoods(
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.errors for part in parts]),
        parts[0].samples,
        parts[0].seed,
    )
