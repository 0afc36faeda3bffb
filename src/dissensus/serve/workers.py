"""The threads that do the work: they share one set of weights, and torch leaves the interpreter to others."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from dissensus.evaluation import cores

__all__ = ["Workers"]

Result = TypeVar("Result")
SMALL = 1 << 16  # bytes that are taken apart in about a millisecond
TURN = 0.02  # seconds after which a request with many pictures lets others unpack theirs


class Workers:
    """``count`` threads for scoring, which divide the cores between them, and one for small pictures.

    Whoever scores first takes a slot: so work waits where it is counted and bounded, never in a thread pool's
    own endless queue. Small pictures are unpacked one at a time; large ones are left to processes
    (:class:`~dissensus.serve.decoders.Decoders`).
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.free = count
        self._slots = asyncio.Semaphore(count)
        threads = max(1, cores() // count)
        self._scoring = ThreadPoolExecutor(count, "scoring", initializer=_use_threads, initargs=(threads,))
        self._decoding = ThreadPoolExecutor(1, "decoding")
        self._since: dict[int, float] = {}
        self._decoding_since: float | None = None
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
        """Runs in a thread for scoring, with the slot that the caller has taken.

        The slot is given back when the work has ended, even if nobody waits for it any more: a thread cannot
        be stopped.
        """
        number = self._started = self._started + 1

        def ended(_: object) -> None:
            del self._since[number]
            self.give_back()

        work = asyncio.get_running_loop().run_in_executor(self._scoring, function, *arguments)
        self._since[number] = time.monotonic()
        work.add_done_callback(ended)
        return await asyncio.shield(work)

    async def decode(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Runs in the thread for pictures; it must take a bounded time, for a thread cannot be stopped."""

        def timed() -> Result:
            self._decoding_since = time.monotonic()
            try:
                return function(*arguments)
            finally:
                self._decoding_since = None

        return await asyncio.get_running_loop().run_in_executor(self._decoding, timed)

    async def in_turns(self, work: Iterator[Result]) -> list[Result]:
        """All that ``work`` yields, made in the thread for pictures; others have their turns in between.

        What is done within a turn is done at once.
        """
        found: list[Result] = []

        def go_on() -> bool:
            end = time.monotonic() + TURN
            for one in work:
                found.append(one)
                if time.monotonic() > end:
                    return True
            return False

        while await self.decode(go_on):
            pass
        return found

    async def parse(self, size: int, function: Callable[..., Result], *arguments: Any) -> Result:
        """Runs here and now, or in the thread for pictures if ``size`` bytes would hold others up."""
        if size <= SMALL:
            return function(*arguments)
        return await self.decode(function, *arguments)

    def longest(self) -> float:
        """For how many seconds the oldest work has been running; 0 where there is none."""
        begun = [*self._since.values()]
        if (decoding := self._decoding_since) is not None:
            begun.append(decoding)
        return time.monotonic() - min(begun) if begun else 0.0

    def close(self) -> None:
        """Ends the threads once they are done, and waits for none."""
        self._scoring.shutdown(wait=False, cancel_futures=True)
        self._decoding.shutdown(wait=False, cancel_futures=True)


def _use_threads(count: int) -> None:
    """Torch keeps a number of threads for each thread that calls it.

    A thread that has none yet takes over whatever was set last anywhere, so it is given one first.
    """
    import torch

    torch.get_num_threads()
    torch.set_num_threads(count)
