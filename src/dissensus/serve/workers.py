"""The threads that do the work: they share one set of weights, and torch leaves the interpreter to others."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from dissensus.serve.settings import cores

__all__ = ["Workers"]

Result = TypeVar("Result")
SMALL = 1 << 16  # bytes that are taken apart in about a millisecond


class Workers:
    """``count`` threads for scoring, and one for unpacking pictures.

    Whoever scores first takes a slot: so work waits where it is counted and bounded, never in a thread pool's
    own endless queue. Pictures are unpacked one at a time, which bounds the memory that takes.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.free = count
        self._slots = asyncio.Semaphore(count)
        threads = max(1, cores() // count)
        self._scoring = ThreadPoolExecutor(count, "scoring", initializer=_use_threads, initargs=(threads,))
        self._decoding = ThreadPoolExecutor(1, "decoding")
        self._since: dict[int, float] = {}
        self._started = 0

    async def take(self) -> None:
        """Waits for a slot; :meth:`give_back` returns it."""
        await self._slots.acquire()
        self.free -= 1

    def give_back(self) -> None:
        """Returns the slot."""
        self.free += 1
        self._slots.release()

    async def score(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Runs in a thread for scoring; the caller holds a slot."""
        number = self._started = self._started + 1
        self._since[number] = time.monotonic()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._scoring, function, *arguments)
        finally:
            del self._since[number]

    async def decode(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Runs in the thread for pictures."""
        return await asyncio.get_running_loop().run_in_executor(self._decoding, function, *arguments)

    async def parse(self, size: int, function: Callable[..., Result], *arguments: Any) -> Result:
        """Runs here and now, or in the thread for pictures if ``size`` bytes would hold others up."""
        if size <= SMALL:
            return function(*arguments)
        return await self.decode(function, *arguments)

    def longest(self) -> float:
        """For how many seconds the oldest work has been running; 0 where there is none."""
        return time.monotonic() - min(self._since.values()) if self._since else 0.0

    def close(self) -> None:
        """Ends the threads once they are done."""
        self._scoring.shutdown()
        self._decoding.shutdown()


def _use_threads(count: int) -> None:
    """Torch keeps its number of threads for each thread that calls it."""
    import torch

    torch.set_num_threads(count)
