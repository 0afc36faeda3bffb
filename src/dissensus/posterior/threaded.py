"""Several chains at once on a CPU: each on cores of its own, instead of every step on all cores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from dissensus.posterior.chain import Chain
from dissensus.posterior.step_work import step_outweighs_python, step_threads
from dissensus.side_by_side import side_by_side
from dissensus.torch_threads import usable_threads

__all__ = ["ThreadedEngine"]


class ThreadedEngine:
    """The chains divided between threads, and torch's threads between those."""

    def __init__(self, chains: Sequence[Chain]) -> None:
        self.chains = chains

    @staticmethod
    def pays(chains: Sequence[Chain]) -> bool:
        """Whether there are chains and cores enough, and work enough in a step."""
        first = chains[0]
        return min(len(chains), usable_threads()) > 1 and step_outweighs_python(first.vae, first.batch_size)

    def run_epoch(self, epoch: int) -> Tensor:
        """Epoch t of all chains; the steps' mean ELBOs (C, steps)."""
        cores = usable_threads()
        workers = min(len(self.chains), cores)
        orders = [chain.begin_epoch(epoch) for chain in self.chains]
        traces: list[list[Tensor]] = [[] for _ in self.chains]

        def steps(worker: int) -> Iterator[tuple[int, Tensor]]:
            for number in range(worker, len(self.chains), workers):
                for rows in orders[number]:
                    yield number, self.chains[number].step(rows)

        first = self.chains[0]
        threads = cores // workers if step_threads(first.vae, first.batch_size) > 1 else 1
        for number, elbo in side_by_side([steps(worker) for worker in range(workers)], threads=threads):
            traces[number].append(elbo)
        return torch.stack([torch.stack(trace) for trace in traces])
