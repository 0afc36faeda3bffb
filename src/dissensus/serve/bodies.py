"""Request bodies, read with limits on their size, their time, and on all of them together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.requests import ClientDisconnect, Request

from dissensus.serve.refusals import Gone, Overloaded, Refusal

__all__ = ["Bodies"]

AT_ONCE = 8  # bodies of the largest size that may be in memory together
DISCARDED = 1 << 23  # bytes of a refused body that are read, so that the client hears why
DISCARD_SECONDS = 2.0


class Bodies:
    """Reads bodies of at most ``largest`` bytes in at most ``timeout`` seconds."""

    def __init__(self, largest: int, timeout: float) -> None:
        self.largest, self.timeout = largest, timeout
        self._held = 0

    @asynccontextmanager
    async def read(self, request: Request) -> AsyncIterator[bytes]:
        """The body, whose memory counts until the block ends."""
        encoding = request.headers.get("content-encoding", "identity").strip().lower()
        if encoding != "identity":
            raise Refusal(415, "compressed bodies are not taken: send it without Content-Encoding")
        parts: list[bytes] = []
        size = 0
        try:
            declared = request.headers.get("content-length", "")
            if declared.isdecimal() and int(declared[:20]) > self.largest:
                await self._refuse(request)
            async with asyncio.timeout(self.timeout):
                async for part in request.stream():
                    size += len(part)
                    self._held += len(part)
                    parts.append(part)
                    if size > self.largest:
                        parts.clear()
                        await self._refuse(request)
                    if self._held > AT_ONCE * self.largest:
                        raise Overloaded("too many large requests are being read", 1)
            yield b"".join(parts)
        except ClientDisconnect:
            raise Gone from None
        except TimeoutError:
            message = f"the body did not arrive within {self.timeout:.3g} s: send it faster, or less of it"
            raise Refusal(408, message, {"Connection": "close"}) from None
        finally:
            self._held -= size

    async def _refuse(self, request: Request) -> None:
        """Answers 413, but reads on for a while: a client still sending would see a reset and no reason."""
        discarded = 0 if "expect" not in request.headers else DISCARDED  # it waits for a word before it sends
        try:
            async with asyncio.timeout(DISCARD_SECONDS):
                while discarded < DISCARDED:
                    part = await request.receive()
                    discarded += len(part.get("body", b""))
                    if not part.get("more_body", False):
                        break
        except TimeoutError:
            pass
        message = f"the body is larger than {self.largest / (1 << 20):.3g} MiB: send less at once"
        raise Refusal(413, message, {"Connection": "close"})
