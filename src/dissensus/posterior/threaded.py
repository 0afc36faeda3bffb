"""Several chains at once on a CPU: each on cores of its own, instead of every step on all cores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from dissensus.posterior.chain import Chain
from dissensus.side_by_side import side_by_side

__all__ = ["ThreadedEngine"]

LEAST_WORK = (
    10_000_000  # weights × inputs of a step; below, Python's own share of a step allows no two at once
)


class ThreadedEngine:
    """The chains divided between threads, and torch's threads between those."""

    def __init__(self, chains: Sequence[Chain]) -> None:
        self.chains = chains

    @staticmethod
    def pays(chains: Sequence[Chain]) -> bool:
        """Whether there are chains and cores enough, and work enough in a step."""
        weights = sum(part.weights.numel() for part in chains[0].parts.values())
        cores = torch.get_num_threads()
        return min(len(chains), cores) > 1 and weights * chains[0].batch_size >= LEAST_WORK

    def run_epoch(self, epoch: int) -> Tensor:
        """Epoch t of all chains; the steps' mean ELBOs (C, steps)."""
        cores = torch.get_num_threads()
        workers = min(len(self.chains), cores)
        orders = [chain.begin_epoch(epoch) for chain in self.chains]
        traces: list[list[Tensor]] = [[] for _ in self.chains]

        def steps(worker: int) -> Iterator[tuple[int, Tensor]]:
            for number in range(worker, len(self.chains), workers):
                for rows in orders[number]:
                    yield number, self.chains[number].step(rows)

        for number, elbo in side_by_side(
            [steps(worker) for worker in range(workers)], threads=cores // workers
        ):
            traces[number].append(elbo)
        return torch.stack([torch.stack(trace) for trace in traces])
