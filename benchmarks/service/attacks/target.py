"""Whom an attack is aimed at, for how long, and how hard."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

__all__ = ["HOST", "Target"]

HOST = "127.0.0.1"  # and never another
PAUSE = 0.5  # seconds before a client whose connection was closed connects again


@dataclass(frozen=True)
class Target:
    """A service on this machine."""

    port: int
    until: float
    """By the clock of :func:`time.monotonic`."""
    scale: float = 1.0
    """Of the number of clients and the size of what they send."""

    @property
    def left(self) -> float:
        """Seconds."""
        return max(0.0, self.until - time.monotonic())

    def scaled(self, number: int) -> int:
        """A number of clients or bytes, at least one."""
        return max(1, round(self.scale * number))

    def head(self, path: str, *fields: str, method: str = "POST") -> bytes:
        """Of a request."""
        return "\r\n".join((f"{method} {path} HTTP/1.1", f"Host: {HOST}", *fields, "", "")).encode()

    async def clients(
        self, count: int, talk: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
    ) -> None:
        """So many clients, each of which connects again and again and talks until the time is over."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self.left):
                await asyncio.gather(*(self._client(talk) for _ in range(count)))

    async def _client(
        self, talk: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
    ) -> None:
        while self.left:
            try:
                reader, writer = await asyncio.open_connection(HOST, self.port, limit=1 << 16)
            except OSError:
                await asyncio.sleep(PAUSE)
                continue
            try:
                await talk(reader, writer)
            except (OSError, EOFError, asyncio.IncompleteReadError):
                pass
            finally:
                writer.transport.abort()
            await asyncio.sleep(PAUSE)
