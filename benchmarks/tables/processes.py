"""A function of many things, in several processes; one that dies takes nothing with it but its own thing."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from queue import SimpleQueue
from typing import TypeVar

__all__ = ["in_processes"]

Thing = TypeVar("Thing")
Result = TypeVar("Result")


def in_processes(
    function: Callable[[Thing], Result], things: Sequence[Thing], workers: int
) -> Iterator[tuple[Thing, Result | BrokenProcessPool]]:
    """Each thing with what the function makes of it, as they are done; begun in their order.

    A process serves many things, for its imports take seconds. Where it dies, by a lack of memory or a fault
    in compiled code, its thing has that error for a result and a new process goes on with the others: a pool
    that several share would lose them all.
    """
    spawn = multiprocessing.get_context("spawn")
    idle: SimpleQueue[ProcessPoolExecutor] = SimpleQueue()
    for _ in range(workers):
        idle.put(ProcessPoolExecutor(1, mp_context=spawn))

    def made(thing: Thing) -> Result | BrokenProcessPool:
        process = idle.get()
        try:
            return process.submit(function, thing).result()
        except BrokenProcessPool as error:
            process.shutdown()
            process = ProcessPoolExecutor(1, mp_context=spawn)
            return error
        finally:
            idle.put(process)

    threads = ThreadPoolExecutor(workers)
    try:
        begun = {threads.submit(made, thing): thing for thing in things}
        for done in as_completed(begun):
            yield begun[done], done.result()
    finally:
        # On Ctrl-C too: what is not begun is left, and no process stays.
        threads.shutdown(cancel_futures=True)
        for _ in range(workers):
            idle.get().shutdown()
