"""Pieces of work at the same time on a CPU, each on cores of its own.

torch divides every operation between the cores, which have to meet at its end: where operations are short,
the meetings cost more than the work, and on a busy machine many times more. Whole pieces of work meet once.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from queue import SimpleQueue
from typing import TypeVar

import torch

__all__ = ["side_by_side"]

T = TypeVar("T")

_starting = threading.Lock()


def side_by_side(works: Sequence[Iterator[T]], *, threads: int) -> Iterator[T]:
    """What the iterators yield, as it comes; each runs in a thread that has ``threads`` of torch's threads.

    An error in one of them, or in whoever takes what is yielded, stops them all.
    """
    cores = torch.get_num_threads()
    if len(works) == 1 and cores == threads:
        yield from works[0]
        return
    found: SimpleQueue[tuple[T] | BaseException | None] = SimpleQueue()
    stopped = threading.Event()
    ready = threading.Barrier(len(works) + 1)

    def run(work: Iterator[T]) -> None:
        torch.get_num_threads()  # takes over the process's number now, and not at the first operation
        torch.set_num_threads(threads)
        ready.wait()
        try:
            for item in work:
                if stopped.is_set():
                    return
                found.put((item,))
        except BaseException as error:
            found.put(error)
        else:
            found.put(None)

    running = [threading.Thread(target=run, args=(work,), daemon=True) for work in works]
    with _starting:
        for thread in running:
            thread.start()
        ready.wait()
        torch.set_num_threads(cores)  # a thread's number was written down as the process's, too
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
