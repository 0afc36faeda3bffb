"""Connections whose number, time and memory are bounded, whatever clients do or leave undone."""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["HEAD_SECONDS", "READ_BYTES", "TINY_CHUNKS", "TLS_BYTES", "BoundedConnection", "Placed", "Places"]

HEAD_SECONDS = 15.0  # from its first byte to its last
WRITE_SECONDS = 10.0  # without a byte that the client has read
HEAD_BYTES = 1 << 16
READ_BYTES = 1 << 16  # at once: cut into chunks of one byte they take ten milliseconds to take apart
# Of a read, and of what waits to be decrypted. With both and the rest of a record of TLS (16 KiB) handed on
# in one piece, it is no more than READ_BYTES.
TLS_BYTES = READ_BYTES // 4
# So many chunks of a body may be of any length, others must have so many bytes on average: each chunk takes
# Python as long as a whole packet.
TINY_CHUNKS, CHUNK_BYTES = 1 << 13, 32
_ERROR = (
    '{"error": "the request is not HTTP/1.1 as RFC 9112 has it, its head is larger than 64 KiB, or its body '
    'comes in chunks of a few bytes"}'
)
NO_HTTP = (
    "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nX-Content-Type-Options: nosniff\r\n"
    f"Content-Length: {len(_ERROR)}\r\nConnection: close\r\n\r\n{_ERROR}"
).encode()


class Placed(Protocol):
    """A connection that takes a place."""

    transport: Any


class Places:
    """Room for ``most`` connections: a newcomer takes the place of the one that idles longest.

    Those give way for whose client the server waits: for the rest of a request, or for an answer to be read.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.taken: set[Placed] = set()
        self.idle: dict[Placed, float] = {}
        """Since when the server has been waiting for their clients; those that wait longest are first."""

    def take(self, connection: Placed, now: float) -> None:
        """A newcomer, who has said nothing yet."""
        self.taken.add(connection)
        self.idles(connection, now)
        if len(self.taken) > self.most:
            oldest = next(iter(self.idle))  # the newcomer itself, if all others are at work
            self.leave(oldest)
            oldest.transport.abort()

    def leave(self, connection: Placed) -> None:
        """Its place is free."""
        self.taken.discard(connection)
        self.idle.pop(connection, None)

    def idles(self, connection: Placed, now: float) -> None:
        """From now on the server waits for its client."""
        if connection in self.taken:
            self.idle.pop(connection, None)  # to the end
            self.idle[connection] = now

    def works(self, connection: Placed) -> None:
        """From now on its client waits for the server."""
        self.idle.pop(connection, None)


# Why not settings of uvicorn: `limit_concurrency` refuses honest requests while connections that say nothing
# hold all places, `timeout_keep_alive` counts from the first answer on, `h11_max_incomplete_event_size` is
# for a parser that takes seconds for a body in chunks of one byte, and nothing limits the time of a write.
class BoundedConnection(HttpToolsProtocol):
    """A connection that is closed when its client is too slow.

    A request's head may take 15 seconds and 64 KiB, and some of an answer must be read every 10 seconds. One
    request is taken at a time: what a client sends before it has its answer is dropped, and the connection is
    closed after that answer, as RFC 9112 (9.3.2) allows; thousands of requests in one packet would otherwise
    be thousands of tasks. Thousands of chunks of a few bytes are refused.
    """

    def __init__(self, *, places: Places, **uvicorn: Any) -> None:
        super().__init__(**uvicorn)
        self._places = places
        self.greeting: Placed | None = None
        """What has this connection's place until its client has greeted, where there is TLS."""
        self._in_head = self._last = False
        self._head = self._unread = 0  # bytes of its fields, and since the last of them
        self._chunks = self._body = 0  # of the body, and bytes of it
        self._reading: asyncio.TimerHandle | None = None
        self._writing: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """A client has connected."""
        super().connection_made(transport)
        if hasattr(transport, "max_size"):  # of asyncio's own transports
            transport.max_size = READ_BYTES
        if hasattr(transport, "set_read_buffer_limits"):  # of TLS: what came in and cannot be taken on yet
            transport.set_read_buffer_limits(TLS_BYTES)
        if self.greeting is not None:
            self._places.leave(self.greeting)
        self._places.take(self, self.loop.time())
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone."""
        self._places.leave(self)
        self._stop_reading_clock()
        self._stop_writing_clock()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Bytes have come in."""
        if self._last:
            return
        if self._in_head:
            self._unread += len(data)
            if self._unread > HEAD_BYTES:
                self.send_400_response()
                return
        super().data_received(data)

    def on_message_begin(self) -> None:
        """A request begins."""
        if self._at_work:
            raise ValueError("a request came before the answer to an earlier one")
        super().on_message_begin()
        self._in_head, self._head, self._unread = True, 0, 0
        self._chunks = self._body = 0
        if self._reading is None:
            self._wait_for_head()

    def on_url(self, url: bytes) -> None:
        """A part of the request's address."""
        self._count(url)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A field of the request's head."""
        self._count(name + b": " + value + b"\r\n")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head is complete."""
        self._in_head = False
        self._stop_reading_clock()
        super().on_headers_complete()

    def on_chunk_header(self) -> None:
        """Another chunk of the body begins."""
        self._chunks += 1
        if (self._chunks - TINY_CHUNKS) * CHUNK_BYTES > self._body:
            raise ValueError("the body comes in chunks of a few bytes")

    def on_body(self, body: bytes) -> None:
        """A part of the body."""
        self._body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is complete."""
        super().on_message_complete()
        self._places.works(self)

    def on_response_complete(self) -> None:
        """An answer was handed to the system."""
        super().on_response_complete()
        self._idles()
        if self.transport.is_closing():
            self._limit_writing()  # what is left of the answer may never be read

    def pause_writing(self) -> None:
        """The client reads more slowly than it is answered."""
        super().pause_writing()
        self._idles()
        self._limit_writing()

    def resume_writing(self) -> None:
        """The client has read."""
        super().resume_writing()
        self._stop_writing_clock()
        if self._at_work:
            self._places.works(self)

    def send_400_response(self, msg: str = "") -> None:  # noqa: ARG002 the same is said of all
        """Refuses what is no HTTP, or what follows a request that has not been answered."""
        self._last = True
        if self._at_work:
            self.cycle.keep_alive = False
            return
        if self.transport.is_closing():
            return
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            self.transport.write(NO_HTTP)
        self.transport.close()
        self._limit_writing()

    @property
    def _at_work(self) -> bool:
        """Whether a whole request waits for its answer."""
        cycle = self.cycle
        return cycle is not None and not cycle.response_complete and not cycle.more_body

    def _count(self, part: bytes) -> None:
        self._head, self._unread = self._head + len(part), 0
        if self._head > HEAD_BYTES:
            raise ValueError("the head is too large")

    def _idles(self) -> None:
        self._places.idles(self, self.loop.time())

    def _wait_for_head(self) -> None:
        self._idles()
        self._reading = self.loop.call_later(HEAD_SECONDS, self._head_is_late)

    def _head_is_late(self) -> None:
        self._reading = None
        if not self._at_work:
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
