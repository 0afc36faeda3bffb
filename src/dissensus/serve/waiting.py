"""Waiting for work on behalf of a client: for a limited time, and only for as long as the client does."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import Request

from dissensus.serve.refusals import Gone, TooLate

__all__ = ["Deadline", "while_connected"]

Result = TypeVar("Result")


class Deadline:
    """When a request must have been answered: ``seconds`` after this was made."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = asyncio.get_running_loop().time() + seconds

    @property
    def left(self) -> float:
        """Seconds from now on."""
        return self._end - asyncio.get_running_loop().time()

    async def keep(self, work: Coroutine[Any, Any, Result]) -> Result:
        """The result of the work; a refusal, and the work is cancelled, when it comes too late."""
        try:
            async with asyncio.timeout_at(self._end):
                return await work
        except TimeoutError:
            raise TooLate(self._seconds, retry_after=1) from None


async def while_connected(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """The result of the work, which is cancelled if the client leaves; its body has been read to the end."""
    doing, leaving = asyncio.ensure_future(work), asyncio.ensure_future(_left(request))
    try:
        await asyncio.wait((doing, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not doing.done():
            raise Gone
        return doing.result()
    finally:
        doing.cancel()
        leaving.cancel()


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
