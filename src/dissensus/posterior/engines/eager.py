"""The plain loop: one chain after the other, one step after the other. It is the reference."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

import torch
from torch import Tensor

from dissensus.posterior.chain import Chain
from dissensus.torch_threads import torch_threads

__all__ = ["EagerEngine"]


class EagerEngine:
    """One chain after the other, one step after the other."""

    def __init__(self, chains: Sequence[Chain]) -> None:
        self.chains = chains

    def run_epoch(self, epoch: int) -> Tensor:
        """Epoch t of all chains; the steps' mean objectives (C, steps)."""
        # A share of a batch has one thread, wherever it is computed: sums over more have other bits.
        with nullcontext() if self.chains[0].data.is_cuda else torch_threads(1):
            return torch.stack(
                [
                    torch.stack([chain.step(rows) for rows in chain.begin_epoch(epoch)])
                    for chain in self.chains
                ]
            )
