"""How the steps of an epoch are run: in a plain loop, on several cores, or recorded and replayed on a GPU.

For the same noise all give the same trajectory, on a CPU to the bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from torch import Tensor

from dissensus.posterior.chain import Chain
from dissensus.posterior.engines.captured import CapturedEngine
from dissensus.posterior.engines.divided import DividedEngine
from dissensus.posterior.engines.eager import EagerEngine
from dissensus.posterior.engines.threaded import ThreadedEngine

__all__ = ["CapturedEngine", "DividedEngine", "EagerEngine", "Engine", "ThreadedEngine", "engine_for"]


class Engine(Protocol):
    """Runs one epoch of every chain and returns the mean objective of each step (C, steps)."""

    def run_epoch(self, epoch: int) -> Tensor: ...  # noqa: D102


def engine_for(chains: Sequence[Chain]) -> Engine:
    """The fastest engine for the chains and the device they are on."""
    if chains[0].data.is_cuda:
        recordable = all(chain.model.capturable and chain.blocks is None for chain in chains)
        return CapturedEngine(chains) if recordable else EagerEngine(chains)
    for engine in (ThreadedEngine, DividedEngine):
        if engine.pays(chains):
            return engine(chains)
    return EagerEngine(chains)
