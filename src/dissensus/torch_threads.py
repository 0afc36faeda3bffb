"""How many threads torch divides an operation between: one, unless there is much to do in it.

The threads of an operation meet at its end, and who is there first waits in a loop that keeps a core busy.
Where operations are short and other programs want the cores too, somebody is always late, and everybody waits
again and again: a fit that takes a second alone took more than a minute beside another one. So short
operations get one thread, whatever the number of cores and whoever else uses them.

torch has a number for each thread that calls it, and one for the process, which a thread takes over at its
first operation. To set the one is to set the other as well: here the process's is put back each time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

__all__ = [
    "LEAST_WORK",
    "set_own_threads",
    "start_with_threads",
    "threads_for",
    "torch_threads",
    "usable_threads",
]

LEAST_WORK = 10_000_000
"""Weights × inputs of a call of the networks, below which its operations are too short to be divided."""

_setting = threading.Lock()
_outside = threading.local()  # .threads: what this thread had before its outermost block


def usable_threads() -> int:
    """How many threads the caller lets torch use: as many as outside of every :func:`torch_threads` block."""
    return getattr(_outside, "threads", None) or torch.get_num_threads()


def threads_for(work: int) -> int:
    """All threads for a call of so many weights × inputs that they pay, and one for any other.

    >>> threads_for(LEAST_WORK - 1)
    1
    >>> threads_for(LEAST_WORK) == usable_threads()
    True
    """
    return usable_threads() if work >= LEAST_WORK else 1


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """A block in which this thread's operations are divided between ``count`` threads.

    At its end, also after an error, this thread has as many as before; other threads never notice.
    """
    own = torch.get_num_threads()
    if own == count:
        yield
        return
    outermost = not hasattr(_outside, "threads")
    if outermost:
        _outside.threads = own
    set_own_threads(count)
    try:
        yield
    finally:
        set_own_threads(own)
        if outermost:
            del _outside.threads


def set_own_threads(count: int) -> None:
    """Gives the calling thread ``count`` threads, and no other thread, also none that starts later."""
    noted, done = threading.Event(), threading.Event()

    def keep() -> None:
        processes = torch.get_num_threads()  # a new thread has the process's number
        noted.set()
        done.wait()
        torch.set_num_threads(processes)

    with _setting:
        keeper = threading.Thread(target=keep, daemon=True)
        keeper.start()
        try:
            noted.wait()
            torch.get_num_threads()  # takes over the process's number now, and not at the next operation
            torch.set_num_threads(count)
        finally:
            done.set()
            keeper.join()


def start_with_threads(works: list[Callable[[], None]], count: int) -> list[threading.Thread]:
    """Starts each of the works in a thread of its own that has ``count`` of torch's threads."""
    taken = threading.Barrier(len(works) + 1)
    processes: list[int] = []

    def run(work: Callable[[], None]) -> None:
        processes.append(torch.get_num_threads())
        taken.wait()  # not before all have seen the process's number
        torch.set_num_threads(count)
        taken.wait()
        work()

    running = [threading.Thread(target=run, args=(work,), daemon=True) for work in works]
    with _setting:
        for thread in running:
            thread.start()
        taken.wait()
        taken.wait()
        if torch.get_num_threads() == processes[0]:
            torch.set_num_threads(processes[0])  # in the usual case, without yet another thread
        else:
            keeper = threading.Thread(target=_note, args=(processes[0],), daemon=True)
            keeper.start()
            keeper.join()
    return running


def _note(count: int) -> None:
    torch.get_num_threads()
    torch.set_num_threads(count)
