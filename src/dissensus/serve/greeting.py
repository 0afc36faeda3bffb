"""Connections with TLS: from the first moment on they take a place, whether or not they ever greet."""

from __future__ import annotations

import asyncio
import ssl
from asyncio.sslproto import SSLProtocol
from typing import Any, cast

from dissensus.serve.connections import HEAD_SECONDS, TLS_BYTES, BoundedConnection, Places

__all__ = ["Greeting"]

FAREWELL = 1.0  # seconds that a client gets to take leave


# Why not the event loop's own way from a certificate to a connection: nothing is heard of those whose client
# never greets, which could be neither counted nor closed in favour of others. `loop.start_tls` may hand on
# what a client says before it tells of the client.
class Greeting(SSLProtocol):
    """TLS between a client and ``connection``, which takes over the place once they have greeted."""

    max_size = TLS_BYTES  # of its buffer, too: a quarter of a megabyte for each silent client else

    def __init__(self, connection: BoundedConnection, context: ssl.SSLContext, places: Places) -> None:
        loop = asyncio.get_running_loop()
        super().__init__(
            loop,
            connection,
            context,
            cast("asyncio.Future[Any]", None),  # nobody waits for the greeting
            server_side=True,
            ssl_handshake_timeout=round(HEAD_SECONDS),
            ssl_shutdown_timeout=FAREWELL,
        )
        self._places, self._now = places, loop.time
        self.transport: Any = None
        connection.greeting = self

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has connected."""
        self.transport = transport
        self._places.take(self, self._now())
        super().connection_made(transport)

    def connection_lost(self, exc: BaseException | None) -> None:
        """The client is gone."""
        self._places.leave(self)
        super().connection_lost(exc)
