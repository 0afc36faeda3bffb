"""Connections whose number, time and memory are bounded, whatever clients do or leave undone."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["BoundedConnection"]

HEAD_SECONDS = 15.0  # from its first byte to its last
WRITE_SECONDS = 10.0  # without a byte that the client has read
HEAD_BYTES = 1 << 16
PIPELINED = 16  # requests sent before the answer to an earlier one; each takes a few KiB
_ERROR = '{"error": "the request is not HTTP/1.1 as RFC 9112 has it, or its head is larger than 64 KiB"}'
NO_HTTP = (
    "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nX-Content-Type-Options: nosniff\r\n"
    f"Content-Length: {len(_ERROR)}\r\nConnection: close\r\n\r\n{_ERROR}"
).encode()
READ_BYTES = 1 << 16  # at once: cut into chunks of one byte they take ten milliseconds to take apart


# Why not settings of uvicorn: `limit_concurrency` refuses honest requests while connections that say nothing
# hold all places, `timeout_keep_alive` counts from the first answer on, `h11_max_incomplete_event_size` is
# for a parser that takes seconds for a body in chunks of one byte, and nothing limits the time of a write.
class BoundedConnection(HttpToolsProtocol):
    """One of at most ``most`` connections: a newcomer takes the place of the one that idles longest.

    Only those give way for whose client the server waits: for the rest of a request, or for an answer to be
    read. A connection is closed if a request's head takes longer than 15 seconds or 64 KiB, or if for
    10 seconds nothing of an answer is read. What is no HTTP is refused after the answers to what came before.
    """

    def __init__(self, *, most: int, **uvicorn: Any) -> None:
        super().__init__(**uvicorn)
        self.waiting_since: float | None = None
        """Since when the server waits for the client; None while the client waits for the server."""
        self._most = most
        self._head = 0  # bytes of a head that is not complete, after those it came with
        self._fields = 0  # bytes of a head's fields
        self._in_head = False
        self._refused = False
        self._reading: asyncio.TimerHandle | None = None
        self._writing: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """A client has connected."""
        super().connection_made(transport)
        if hasattr(transport, "max_size"):  # of asyncio's own transports
            transport.max_size = READ_BYTES
        self._wait_for_head()
        if len(self.connections) > self._most:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone."""
        self._stop_reading_clock()
        self._stop_writing_clock()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Bytes have come in."""
        if self._in_head:
            self._head += len(data)
            if self._head > HEAD_BYTES:
                self._in_head = False
                self.send_400_response("")
                return
        super().data_received(data)

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._in_head, self._head, self._fields = True, 0, 0
        if self._reading is None:
            self._wait_for_head()

    def on_url(self, url: bytes) -> None:
        """A part of the request's address."""
        self._count(url)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A field of the request's head."""
        self._count(name + value)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head is complete."""
        self._in_head = False
        self._stop_reading_clock()
        if len(self.pipeline) >= PIPELINED:
            raise ValueError(f"more than {PIPELINED} requests wait for the answer to an earlier one")
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The request is complete."""
        super().on_message_complete()
        self.waiting_since = None

    def on_response_complete(self) -> None:
        """An answer was handed to the system."""
        super().on_response_complete()
        if self.transport.is_closing():
            self._limit_writing()  # what is left of the answer may never be read
        elif self._refused and not self._owing:
            self.send_400_response("")
        elif not self._owing:
            self.waiting_since = self.loop.time()

    def pause_writing(self) -> None:
        """The client reads more slowly than it is answered."""
        super().pause_writing()
        self.waiting_since = self.loop.time()
        self._limit_writing()

    def resume_writing(self) -> None:
        """The client has read."""
        super().resume_writing()
        self._stop_writing_clock()
        if self._owing:
            self.waiting_since = None

    def send_400_response(self, msg: str) -> None:
        """Refuses what is no HTTP, once what came before it was answered."""
        if self._owing:
            self._refused = True
            self.flow.pause_reading()
            return
        if self.transport.is_closing():
            return
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            self.transport.write(NO_HTTP)
        self.transport.close()
        self._limit_writing()

    @property
    def _all(self) -> set[BoundedConnection]:
        return self.connections  # type: ignore[return-value]  # for uvicorn, of any protocol

    @property
    def _owing(self) -> bool:
        """Whether a whole request waits for its answer."""
        cycle = self.cycle
        return bool(self.pipeline) or (
            cycle is not None and not cycle.response_complete and not cycle.more_body
        )

    def _make_room(self) -> None:
        """Closes the connection that idles longest; this one, which has just begun to, if all others work."""
        waits = {one: since for one in self._all if (since := one.waiting_since) is not None}
        oldest = min(waits, key=waits.__getitem__)
        self.connections.discard(oldest)
        oldest.transport.abort()

    def _count(self, part: bytes) -> None:
        self._fields += len(part)
        if self._fields > HEAD_BYTES:
            raise ValueError("the head of the request is larger than 64 KiB")

    def _wait_for_head(self) -> None:
        self.waiting_since = self.loop.time()
        self._reading = self.loop.call_later(HEAD_SECONDS, self._head_is_late)

    def _head_is_late(self) -> None:
        self._reading = None
        if not self._owing:
            self.transport.close()
            self._limit_writing()

    def _limit_writing(self) -> None:
        if self._writing is None:
            self._writing = self.loop.call_later(WRITE_SECONDS, self.transport.abort)

    def _stop_reading_clock(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def _stop_writing_clock(self) -> None:
        if self._writing is not None:
            self._writing.cancel()
            self._writing = None
