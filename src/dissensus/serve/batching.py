"""Requests of many clients scored together: in turns, within a bounded delay, from bounded queues."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dissensus.detector.asking import Decisions
from dissensus.serve.rates import Rates
from dissensus.serve.refusals import Overloaded, Refusal, TooLate
from dissensus.serve.stats import Stats
from dissensus.serve.turns import Piece, Turns
from dissensus.serve.workers import Workers

__all__ = ["GRAIN", "PAUSE", "Batcher"]

GRAIN = 8  # inputs: fewer are not worth dividing between two workers
RECENT = 1.0  # seconds since the last small request in which one worker is kept for the next
LONGEST_WAIT = 60  # seconds that a client is told to wait
# Seconds that a refusal for want of room takes. It tells to wait a second or more anyway, and clients that
# ask again at once would take the interpreter from those who were accepted.
PAUSE = 1.0

Decide: TypeAlias = Callable[[NDArray[Any]], Decisions]


class Batcher:
    """Collects inputs (n, H, W, C) or (n, D) of any number of requests and has them decided together.

    While all workers are busy, inputs gather by themselves; while one is free, the first to come waits at
    most ``max_delay`` seconds for others. A batch takes about a tenth of a second at most. Requests that fit
    into one take turns with those that do not, and while such come, one worker of several is kept for them: a
    single input does not wait for hundreds of another client. What an input gets does not depend on its
    company; the detector sees to that.

    ``others`` are further ways to decide, by the name of an effort. No batch mixes them, and all of them
    share the queue, its bounds, the kept worker and the statistics. ``capacity`` inputs of small requests
    may wait, and as many of large ones. ``rate`` is a first guess at the inputs a second of one worker, by
    which late answers are foreseen. ``on_batch`` is called with the decisions of each batch, the seconds
    they took and the effort, None for ``decide``.
    """

    def __init__(
        self,
        decide: Decide,
        workers: Workers,
        *,
        others: Mapping[str, Decide] = MappingProxyType({}),
        max_batch: int,
        max_delay: float,
        capacity: int,
        rate: float = 0.0,
        on_batch: Callable[[Decisions, float, str | None], None] = lambda *_: None,
    ) -> None:
        self.max_batch, self.max_delay, self.capacity = max_batch, max_delay, capacity
        self.stats = Stats()
        self._decide, self._others, self._workers, self._on_batch = decide, others, workers, on_batch
        self._queue = Turns()
        self._some, self._enough = asyncio.Event(), asyncio.Event()
        self._running: set[asyncio.Task[None]] = set()
        self._rates = Rates(rate)
        self._started: Counter[str | None] = Counter()  # inputs that are being scored
        self._large_started = 0  # batches of large requests among them
        self._small_came = -math.inf
        self._dispatcher: asyncio.Task[None] | None = asyncio.create_task(self._dispatch())

    @property
    def waiting(self) -> int:
        """Inputs in the queue."""
        return self._queue.count

    async def decide(self, inputs: NDArray[Any], *, timeout: float, effort: str | None = None) -> Decisions:
        """The decisions about the inputs, in their order; a full queue or a late answer is a refusal.

        An effort that is none of ``others`` is that of ``decide``: there is no other way to ask.
        """
        effort = effort if effort in self._others else None
        try:
            self._admit(len(inputs), timeout, effort)
        except Overloaded:
            await asyncio.sleep(PAUSE)
            raise
        loop = asyncio.get_running_loop()
        size, began = self._rates.batch_size(effort, self.max_batch), time.monotonic()
        pieces = [
            Piece(inputs[start : start + size], loop.create_future(), effort)
            for start in range(0, len(inputs), size)
        ]
        if len(pieces) == 1:
            self._small_came = began
        self._queue.put(pieces)
        self._count()
        kept = self.stats.fail
        try:
            async with asyncio.timeout(timeout):
                parts = [await piece.answer for piece in pieces]
            kept = self.stats.success
        except TimeoutError:
            raise TooLate(timeout, retry_after=self.seconds_to_empty()) from None
        finally:
            kept.add(time.monotonic() - began)
            self._forget(pieces)
        return parts[0] if len(parts) == 1 else Decisions(*map(np.concatenate, zip(*parts, strict=True)))

    def seconds_to_empty(self) -> int:
        """How long the queue should take, as a client is told."""
        return min(LONGEST_WAIT, max(1, math.ceil(self._seconds(self._queue.by_effort + self._started))))

    @property
    def alive(self) -> bool:
        """Whether what is queued will be scored."""
        return self._dispatcher is not None and not self._dispatcher.done()

    async def close(self) -> None:
        """Scores what was accepted, then stops."""
        while self.waiting or self._running:
            await asyncio.sleep(0.01)
        if self._dispatcher is not None:
            self._dispatcher.cancel()
            await asyncio.gather(self._dispatcher, return_exceptions=True)
            # How it ended leads back here, a circle that would keep the weights in memory until it is found.
            self._dispatcher = None

    def _seconds(self, counts: Mapping[str | None, int]) -> float:
        """What scoring so many inputs takes all workers; 0 where nobody knows yet."""
        return self._rates.seconds(counts) / self._workers.count

    def _admit(self, count: int, timeout: float, effort: str | None) -> None:
        if count > self.capacity:
            raise Refusal(413, f"{count} inputs are more than the queue holds ({self.capacity}): send fewer")
        waiting = self._queue.of_kind(large=count > self._rates.batch_size(effort, self.max_batch))
        if waiting.total() + count > self.capacity:
            raise Overloaded(f"the queue is full ({waiting.total()} inputs wait)", self.seconds_to_empty())
        own = self._seconds({effort: count})
        # Large and small requests take turns: in front of each, no more wait of the others than of its kind.
        ahead = min(self._seconds(self._queue.by_effort), 2 * self._seconds(waiting) + own)
        # Accepted and answered too late is work for nothing: better to say so at once.
        if self.waiting and self._seconds(self._started) + ahead + own > timeout:
            raise Overloaded(
                f"{self.waiting} inputs wait, too many for an answer in time", self.seconds_to_empty()
            )

    def _large_may_start(self) -> bool:
        """While small requests come, one worker is kept for them, if there are several."""
        kept = 1 if time.monotonic() - self._small_came < RECENT else 0
        return self._large_started < max(1, self._workers.count - kept)

    def _count(self) -> None:
        small, large = (self._queue.of_kind(large=kind).total() for kind in (False, True))
        _set(self._some, small > 0 or (large > 0 and self._large_may_start()))
        waiting = self._queue.by_effort.items()
        whole = (count >= self._rates.batch_size(effort, self.max_batch) for effort, count in waiting)
        _set(self._enough, any(whole))

    def _forget(self, pieces: list[Piece]) -> None:
        """Drops what nobody waits for any more, unless it is being scored already."""
        for piece in pieces:
            piece.answer.cancel()  # without effect on one that is there
            if piece.answer.cancelled():
                self._queue.remove(piece)
        self._count()

    async def _dispatch(self) -> None:
        while True:
            await self._some.wait()
            await self._workers.take()
            try:
                await self._gather()
                batch = self._take()
            except BaseException:
                self._workers.give_back()
                raise
            if not batch:  # all of it was given up meanwhile
                self._workers.give_back()
                continue
            task = asyncio.create_task(self._score(batch))
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    async def _gather(self) -> None:
        """Waits until there is enough for a batch, or the first input has waited long enough."""
        left = self._queue.oldest() + self.max_delay - time.monotonic() if self._queue else 0.0
        if left > 0 and not self._enough.is_set():
            try:
                async with asyncio.timeout(left):
                    await self._enough.wait()
            except TimeoutError:
                pass

    def _take(self) -> list[Piece]:
        """The next batch: what waits, divided between this worker and those that are free."""
        part = math.ceil(self.waiting / (1 + self._workers.free))
        most = min(self.max_batch, max(GRAIN, part))
        batch = self._queue.take(
            lambda effort: self._rates.batch_size(effort, most), large_too=self._large_may_start()
        )
        self._large_started += bool(batch) and batch[0].large
        now = time.monotonic()
        for piece in batch:
            self._started[piece.effort] += len(piece.inputs)
            self.stats.queue.add(now - piece.arrived)
        self._count()
        return batch

    async def _score(self, batch: list[Piece]) -> None:
        began, effort = time.monotonic(), batch[0].effort
        decide = self._decide if effort is None else self._others[effort]
        try:
            decisions = await self._workers.score(
                lambda: decide(np.concatenate([piece.inputs for piece in batch]))
            )
        except Exception as error:  # each of those who wait must hear of it
            for piece in batch:
                if not piece.answer.done():
                    piece.answer.set_exception(error)
                    piece.answer.exception()  # seen: nobody may be waiting any more
            return
        finally:
            self._started[effort] -= sum(len(piece.inputs) for piece in batch)
            self._large_started -= batch[0].large
            self._count()
        seconds = time.monotonic() - began
        self._rates.measure(effort, len(decisions.score), seconds)
        self.stats.scored(len(decisions.score), seconds)
        start = 0
        for piece in batch:
            end = start + len(piece.inputs)
            if not piece.answer.done():
                score, p_value, flagged = decisions
                piece.answer.set_result(Decisions(score[start:end], p_value[start:end], flagged[start:end]))
            start = end
        self._on_batch(decisions, seconds, effort)


def _set(event: asyncio.Event, wanted: bool) -> None:
    if wanted:
        event.set()
    else:
        event.clear()
