"""Wall-clock times of work on a device, and of two ways to do it in turn."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence

import torch

__all__ = ["alternate", "median", "seconds"]

Work = Callable[[], object]


def seconds(work: Work, device: torch.device) -> float:
    """How long the work takes, to the end of what it has put on the device."""
    _finish(device)
    started = time.perf_counter()
    work()
    _finish(device)
    return time.perf_counter() - started


def alternate(works: Sequence[Work], device: torch.device, *, rounds: int) -> list[list[float]]:
    """The seconds of each work in every round, after one round that is not counted.

    In turn, so that whatever else slows the machine down for a while slows all of them down.
    """
    for work in works:
        seconds(work, device)
    times = [[seconds(work, device) for work in works] for _ in range(rounds)]
    return [list(own) for own in zip(*times, strict=True)]


def median(values: Sequence[float]) -> float:
    """The middle one.

    >>> median([3.0, 1.0, 2.0])
    2.0
    """
    return float(statistics.median(values))


def _finish(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
