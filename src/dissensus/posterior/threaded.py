"""Several chains at once on a CPU: each on cores of its own, instead of every step on all cores.

The operations of a step are short, and to share each of them between cores costs a meeting of the cores at
its end. Chains never have to meet.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import Tensor

from dissensus.posterior.chain import Chain

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
        traces: list[Tensor] = [torch.empty(0)] * len(self.chains)
        ready, stopped = threading.Barrier(workers + 1), threading.Event()

        def work(worker: int) -> None:
            torch.set_num_threads(max(1, cores // workers))  # of this thread …
            torch.get_num_threads()  # … which only by asking keeps it when the process's own is set again
            ready.wait()
            for number in range(worker, len(self.chains), workers):
                steps = []
                for rows in orders[number]:
                    if stopped.is_set():
                        return
                    steps.append(self.chains[number].step(rows))
                traces[number] = torch.stack(steps)

        with ThreadPoolExecutor(workers) as pool:
            try:
                working = [pool.submit(work, worker) for worker in range(workers)]
                ready.wait()
                torch.set_num_threads(cores)  # threads yet to come take over what was set last
                for one in working:
                    one.result()
            except BaseException:  # Ctrl-C, or an error in one of the chains: no chain goes on alone
                stopped.set()
                raise
        return torch.stack(traces)
