"""Work in a thread of its own that a process may leave behind when it ends."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

__all__ = ["aside"]

Result = TypeVar("Result")


async def aside(function: Callable[..., Result], *arguments: object) -> Result:
    """The result of the function, which runs in a daemon thread.

    Unlike :func:`asyncio.to_thread`, whose threads are waited for at the end: reading a large gate, or a
    webhook that does not answer, must not hold up a process that is to end.
    """
    loop = asyncio.get_running_loop()
    found: asyncio.Future[Result] = loop.create_future()

    def settle(settling: Callable[[], None]) -> None:
        if not found.done():  # whoever waited may have been told to stop
            settling()

    def run() -> None:
        try:
            result = function(*arguments)
        except BaseException as error:
            outcome = error  # the name of an exception ends with its block
            told = lambda: found.set_exception(outcome)  # noqa: E731
        else:
            told = lambda: found.set_result(result)  # noqa: E731
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, told)

    threading.Thread(target=run, name="aside", daemon=True).start()
    return await found
