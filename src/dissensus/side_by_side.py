"""Pieces of work at the same time on a CPU, each on cores of its own.

torch divides every operation between the cores, which have to meet at its end: where operations are short,
the meetings cost more than the work, and on a busy machine many times more. Whole pieces of work meet once.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from functools import partial
from queue import SimpleQueue
from typing import TypeVar

import torch

from dissensus.torch_threads import start_with_threads

__all__ = ["side_by_side"]

T = TypeVar("T")


def side_by_side(works: Sequence[Iterator[T]], *, threads: int) -> Iterator[T]:
    """What the iterators yield, as it comes; each runs in a thread that has ``threads`` of torch's threads.

    An error in one of them, or in whoever takes what is yielded, stops them all.
    """
    if not works:
        return
    if len(works) == 1 and torch.get_num_threads() == threads:
        yield from works[0]
        return
    found: SimpleQueue[tuple[T] | BaseException | None] = SimpleQueue()
    stopped = threading.Event()

    def run(work: Iterator[T]) -> None:
        try:
            for item in work:
                if stopped.is_set():
                    return
                found.put((item,))
        except BaseException as error:
            found.put(error)
        else:
            found.put(None)

    running = start_with_threads([partial(run, work) for work in works], threads)
    try:
        left = len(works)
        while left:
            item = found.get()
            if isinstance(item, BaseException):
                raise item
            if item is None:
                left -= 1
            else:
                yield item[0]
    finally:
        stopped.set()
        for thread in running:
            thread.join()
