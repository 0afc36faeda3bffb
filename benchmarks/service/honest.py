"""Honest clients and probes of a service, each on connections of its own, and what they see of it."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from benchmarks.service.attacks.target import HOST
from benchmarks.service.load import Question, answer_of

__all__ = ["NO_ANSWER", "Seen", "ask_honestly"]

LATE = 120.0  # seconds after which an honest client gives up: a number in a record, and no longer wait
NO_ANSWER = 0  # in the place of a status
PROBED = ("/v2/health/live", "/v2/health/ready")
PROBE_PAUSE = 0.1  # seconds


@dataclass
class Seen:
    """What they saw."""

    seconds: list[float] = field(default_factory=list)
    """Of requests that were answered with a result, or not at all: a refusal is none."""
    statuses: Counter[int] = field(default_factory=Counter)
    probe_seconds: list[float] = field(default_factory=list)
    probe_statuses: Counter[int] = field(default_factory=Counter)

    def quantile(self, share: float) -> float | None:
        """Of the seconds of requests."""
        return float(np.quantile(self.seconds, share)) if self.seconds else None

    @property
    def requests(self) -> int:
        """All that were sent."""
        return sum(self.statuses.values())

    @property
    def failures(self) -> int:
        """Requests that were answered with 5xx or not at all."""
        return sum(count for status, count in self.statuses.items() if status == NO_ANSWER or status >= 500)

    @property
    def refused(self) -> int:
        """Requests that were answered with 4xx."""
        return sum(count for status, count in self.statuses.items() if 400 <= status < 500)

    @property
    def failed_probes(self) -> int:
        """Whatever else than 200 said that the service does not live, or is not ready."""
        return sum(count for status, count in self.probe_statuses.items() if status != 200)


async def ask_honestly(
    port: int,
    questions: Sequence[Question],
    *,
    seconds: float,
    clients: int,
    pause: float,
) -> Seen:
    """What so many clients and one who probes see within some seconds.

    Each client asks again ``pause`` seconds after its answer.
    """
    seen, end = Seen(), time.monotonic() + seconds
    requests = itertools.cycle(
        question.request.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1) for question in questions
    )

    async def single() -> None:
        took, status = await _once(port, next(requests))
        seen.statuses[status] += 1
        if status in (NO_ANSWER, 200):  # a refusal may come soon, and is no answer
            seen.seconds.append(took)

    async def probe() -> None:
        for path in PROBED:
            head = f"GET {path} HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n"
            took, status = await _once(port, head.encode())
            seen.probe_seconds.append(took)
            seen.probe_statuses[status] += 1

    async def again(ask: Callable[[], Awaitable[None]], pause: float) -> None:
        await ask()
        while time.monotonic() < end:
            await asyncio.sleep(pause)
            await ask()

    await asyncio.gather(*(again(single, pause) for _ in range(clients)), again(probe, PROBE_PAUSE))
    return seen


async def _once(port: int, request: bytes) -> tuple[float, int]:
    """The seconds to an answer on a connection of its own, and its status."""
    began = time.perf_counter()
    status = NO_ANSWER
    with contextlib.suppress(OSError, EOFError, asyncio.IncompleteReadError, TimeoutError):
        async with asyncio.timeout(LATE):
            reader, writer = await asyncio.open_connection(HOST, port)
            try:
                writer.write(request)
                status = (await answer_of(reader)).status
            finally:
                writer.transport.abort()
    return time.perf_counter() - began, status
