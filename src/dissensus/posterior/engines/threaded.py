"""Several chains at once on a CPU: each on cores of its own, instead of every step on all cores."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import torch
from torch import Tensor

from dissensus.posterior.chain import Chain
from dissensus.posterior.engines.divided import DividedChain
from dissensus.posterior.step_work import step_outweighs_python
from dissensus.side_by_side import side_by_side
from dissensus.torch_threads import usable_threads

__all__ = ["ThreadedEngine"]


class ThreadedEngine:
    """The chains divided between threads; where there are more cores than chains, so are their batches."""

    def __init__(self, chains: Sequence[Chain]) -> None:
        cores = usable_threads()
        self.workers = min(len(chains), cores)
        self.chains = [DividedChain(chain, cores // self.workers) for chain in chains]

    @staticmethod
    def pays(chains: Sequence[Chain]) -> bool:
        """Whether there are chains and cores enough, and work enough in a step."""
        first = chains[0]
        return min(len(chains), usable_threads()) > 1 and step_outweighs_python(first.model, first.batch_size)

    def run_epoch(self, epoch: int) -> Tensor:
        """Epoch t of all chains; the steps' mean objectives (C, steps)."""
        traces: list[list[Tensor]] = [[] for _ in self.chains]

        def steps(worker: int) -> Generator[tuple[int, Tensor]]:
            for number in range(worker, len(self.chains), self.workers):
                for objective in self.chains[number].steps(epoch):
                    yield number, objective

        works = [steps(worker) for worker in range(self.workers)]
        try:
            for number, objective in side_by_side(works, threads=1):
                traces[number].append(objective)
        finally:
            for work in works:  # after an error, its helping threads end now
                work.close()
        return torch.stack([torch.stack(trace) for trace in traces])
