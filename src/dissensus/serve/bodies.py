"""Request bodies, read with limits on their size, their time, and on all large ones together."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from mmap import mmap
from typing import TypeAlias

from starlette.requests import ClientDisconnect, Request

from dissensus.serve.refusals import Gone, Overloaded, Refusal

__all__ = ["Bodies", "Body"]

Body: TypeAlias = "bytes | memoryview"
"""As it came in, lest a large one be copied while everybody waits."""

AT_ONCE = 2  # bodies of the largest size that may be in memory together: with --max-body-mb 32, 64 MiB
# Bytes that every body may have whatever others do: a picture or a few hundred rows. All connections
# together cannot hold much that way.
ROOM = 1 << 16
CODINGS = {"gzip": 31, "x-gzip": 31, "deflate": 15}
"""Content codings, with zlib's number for their windows and headers."""
CLOSE = {"Connection": "close"}


class Bodies:
    """Reads bodies of at most ``largest`` bytes in at most ``timeout`` seconds.

    Beyond its first 64 KiB a body takes room that all share. Where there is none left, the one that has been
    arriving for longest gives way: whoever stalls uploads can neither fill the memory nor keep others out.
    """

    def __init__(self, largest: int, timeout: float) -> None:
        self.largest, self.timeout = largest, timeout
        self.held = 0
        """Bytes of all bodies, beyond the room that each has."""
        self._arriving: dict[_Arriving, None] = {}  # by the time at which they began to take common room
        self._leaving: set[_Arriving] = set()
        # Large bodies that were smaller as they came: a thousandth, and hundreds of them. They take turns.
        self._unpacking = asyncio.Semaphore(AT_ONCE)

    @asynccontextmanager
    async def read(self, request: Request) -> AsyncIterator[Body]:
        """The body, whose memory counts until the block ends, and which nobody may keep for longer."""
        coding = request.headers.get("content-encoding", "identity").strip().lower()
        if coding not in ("identity", *CODINGS):
            raise Refusal(
                415,
                "the body's Content-Encoding is not known: send it as it is, or in gzip or deflate",
                {"Accept-Encoding": "gzip, deflate, identity"},
            )
        body = _Arriving(asyncio.timeout(self.timeout), self.largest)
        try:
            declared = request.headers.get("content-length", "")
            if declared.isdecimal() and int(declared[:20]) > self.largest:
                raise self._too_large()
            try:
                await self._fill(body, request)
            except TimeoutError:
                raise self._ended(body) from None
            finally:
                self._arriving.pop(body, None)
            async with AsyncExitStack() as turn:
                yield await self._plain(body, coding, turn)
        except ClientDisconnect:
            raise Gone from None
        finally:
            body.forget()  # a refusal keeps what it came from until it has been sent
            self.held -= body.held
            self._leaving.discard(body)

    async def _fill(self, body: _Arriving, request: Request) -> None:
        async with body.limit:
            async for part in request.stream():
                if body.size + len(part) > self.largest:
                    raise self._too_large()
                body.add(part)
                if self._count(body, body.size):
                    self._arriving.setdefault(body)
                    self._make_room()

    def _count(self, body: _Arriving, size: int) -> bool:
        """Counts what a body of that size takes of the common room; whether it takes any."""
        beyond = max(body.held, size - ROOM)
        self.held += beyond - body.held
        body.held = beyond
        return beyond > 0

    def _make_room(self) -> None:
        if self.held - sum(body.held for body in self._leaving) <= AT_ONCE * self.largest:
            return
        oldest = next(iter(self._arriving))
        del self._arriving[oldest]
        self._leaving.add(oldest)
        oldest.limit.reschedule(0.0)

    async def _plain(self, body: _Arriving, coding: str, turn: AsyncExitStack) -> Body:
        """The body without its content coding; a large one takes a turn, which lasts as long as ``turn``."""
        content = body.content
        body.forget()
        if coding == "identity":
            return content
        # In a thread: it gives up the interpreter, and 32 MiB take a tenth of a second.
        found = await asyncio.to_thread(_unpacked, content, coding, ROOM)
        if found is None:
            try:
                async with asyncio.timeout(self.timeout):
                    await turn.enter_async_context(self._unpacking)
            except TimeoutError:
                raise Overloaded("too many large requests are being unpacked", 1) from None
            found = await asyncio.to_thread(_unpacked, content, coding, self.largest)
        if found is None:
            raise self._too_large()
        self._count(body, len(found))
        return found

    def _ended(self, body: _Arriving) -> Refusal:
        if body in self._leaving:
            refusal: Refusal = Overloaded(
                "too many large requests are arriving, and this one took longest", 1
            )
            refusal.headers |= CLOSE
            return refusal
        message = f"the body did not arrive within {self.timeout:.3g} s: send it faster, or less of it"
        return Refusal(408, message, CLOSE)

    def _too_large(self) -> Refusal:
        return Refusal(413, f"the body is larger than {self.largest / (1 << 20):.3g} MiB: send less at once")


class _Arriving:
    """A body as far as it has arrived.

    A large one has pages of its own, of which the system gives those that are written to: growing it copies
    nothing, and they are given back at once, in whatever order bodies go.
    """

    def __init__(self, limit: asyncio.Timeout, largest: int) -> None:
        self.limit, self._largest = limit, largest
        self.size = self.held = 0
        self._bytes: bytearray | mmap = bytearray()

    def add(self, part: bytes) -> None:
        """The next part has come."""
        end = self.size + len(part)
        if self.size <= ROOM < end:
            try:
                pages = mmap(-1, self._largest)
            except OSError:  # where the system promises no more than it has
                raise Overloaded(
                    "there is no memory for another large request now: send it again", 1
                ) from None
            small, self._bytes = self._bytes, pages
            self._bytes[: self.size] = small
        self._bytes[self.size : end] = part
        self.size = end

    @property
    def content(self) -> memoryview:
        """All that has come."""
        return memoryview(self._bytes)[: self.size]

    def forget(self) -> None:
        """Its memory is that of who has its content."""
        self._bytes, self.size = bytearray(), 0


def _unpacked(content: Body, coding: str, most: int) -> bytes | None:
    """The content without its coding; None if it is larger than ``most`` bytes, and no more is unpacked."""
    unpacker = zlib.decompressobj(CODINGS[coding])
    try:
        found = unpacker.decompress(content, most + 1)
    except zlib.error as error:
        raise Refusal(400, f"the body is not in {coding}, as its Content-Encoding says") from error
    if len(found) > most:
        return None
    if not unpacker.eof or unpacker.unused_data:
        raise Refusal(400, f"the body in {coding} is cut off, or something stands behind it")
    return found
