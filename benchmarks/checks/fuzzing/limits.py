"""How much memory and time a case may take, and how much was taken."""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["MEMORY", "SECONDS", "Hang", "limit_memory", "off_the_clock", "peak_memory", "time_limit"]

MEMORY = 2 << 30  # bytes of address space above what the process takes before its first case
SECONDS = 20  # for one case


class Hang(BaseException):
    """A case took too long; no ``except Exception`` may swallow it."""


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Raises :class:`Hang` in a block that takes longer."""

    def stop(*_: Any) -> None:
        raise Hang

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


@contextmanager
def off_the_clock() -> Iterator[None]:
    """Stops the clock of :func:`time_limit` for a block, and starts it anew after it."""
    ran = signal.alarm(0) > 0
    try:
        yield
    finally:
        if ran:
            signal.alarm(SECONDS)


def limit_memory(allowance: int) -> None:
    """No more address space than now and ``allowance`` bytes; what cannot be had is an error, not a swap."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + allowance
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def peak_memory() -> int:
    """The most bytes this process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
