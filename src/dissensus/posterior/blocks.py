r"""Training inputs that do not fit into memory, shuffled by blocks.

The inputs are N positions in blocks of b consecutive ones. An epoch puts the blocks in random order, reads
W inputs at a time, which is many blocks, and shuffles those W among each other; the next W are read while
these are learnt from. Every input comes once in an epoch, as always. What differs from a shuffle of all N is
that inputs of one block come near each other in every epoch: where inputs lie in an order, such as one class
after the other, a window should hold blocks of many places, and W/b of them do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

__all__ = ["BlockData"]

Run: TypeAlias = tuple[int, int]
"""Consecutive positions, from the first to before the second."""


@dataclass(frozen=True)
class BlockData:
    """N training inputs and how they are read; it stands for the tensor (N, *S) that would hold them."""

    read: Callable[[int, int], Tensor]
    """The inputs (n, *S) at consecutive positions, from the first number to before the second."""
    shape: tuple[int, ...]
    """(N, *S)"""
    block: int
    """b"""
    window: int
    """W, a multiple of the batch size."""
    digest: str
    device: torch.device

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def is_cuda(self) -> bool:
        """Whether inputs are learnt from on a GPU."""
        return self.device.type == "cuda"

    def first(self, count: int) -> Tensor:
        """The first inputs, on the device."""
        return self.read(0, min(count, len(self))).to(self.device)

    def windows(self, generator: torch.Generator) -> Iterator[list[Run]]:
        """The windows of an epoch, each as runs of positions in the order of their blocks."""
        starts = torch.randperm(-(-len(self) // self.block), generator=generator).mul(self.block).tolist()
        runs: list[Run] = []
        room = self.window
        for start in starts:
            end = min(start + self.block, len(self))
            while start < end:
                stop = min(end, start + room)
                runs.append((start, stop))
                room -= stop - start
                start = stop
                if not room:
                    yield runs
                    runs, room = [], self.window
        if runs:
            yield runs

    def epoch(self, generator: torch.Generator, batch_size: int) -> Iterator[tuple[Tensor | None, Tensor]]:
        """The batches of an epoch: what is in memory from now on, where it changes, and rows (B,) of it.

        The next window is read in a thread of its own. A partial last batch is left out.
        """
        windows = list(self.windows(generator))
        shuffling = torch.Generator().manual_seed(int(torch.randint(1 << 62, (), generator=generator)))
        with ThreadPoolExecutor(1) as reader:
            coming: Future[Tensor] | None = reader.submit(self._read, windows[0])
            for number in range(len(windows)):
                assert coming is not None
                now: Tensor | None = coming.result().to(self.device)
                coming = None  # it holds what was read
                assert now is not None
                order = torch.randperm(len(now), generator=shuffling).to(self.device)
                batches = order[: len(order) // batch_size * batch_size].view(-1, batch_size)
                for step, rows in enumerate(batches):
                    yield now, rows
                    now = None  # whoever learns from it has it, and nobody else
                    if step == 0 and number + 1 < len(windows):  # the window before is gone now
                        coming = reader.submit(self._read, windows[number + 1])

    def _read(self, runs: list[Run]) -> Tensor:
        # Filled run by run: to put parts together would take twice the memory.
        first = self.read(*runs[0])
        found = torch.empty((sum(stop - start for start, stop in runs), *first.shape[1:]), dtype=first.dtype)
        at = 0
        for number, run in enumerate(runs):
            part = self.read(*run) if number else first
            found[at : at + len(part)] = part
            at += len(part)
        return found
