"""The process: sockets, TLS, signals, and an end that loses nothing and comes in time."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import uvicorn

from dissensus.errors import SettingsError
from dissensus.serve.app import make_app
from dissensus.serve.connections import BoundedConnection, Places
from dissensus.serve.greeting import Greeting
from dissensus.serve.logs import log, set_up_logs

if TYPE_CHECKING:
    from dissensus.serve.service import Service

__all__ = ["Server", "serve"]

LINGER = 1.0  # seconds that open connections get for the request they may just be sending
LAST_WAIT = 5.0  # seconds that a client gets to send the rest of a request, or to read an answer
BACKLOG = 4096  # connections that wait in the system; who finds no room there tries again after a second
AT_ONCE = 16  # of them that are taken before anybody else has a turn
# Files of those that have been taken and have no place yet, or have lost it and are not closed yet: that is
# three turns of the event loop, and one to spare. With no file left it would take nobody for a second.
TAKING_FILES = 4 * AT_ONCE
SPARE_FILES = 128  # for all that is no connection: gates, decoders, logs, the webhook
# Seconds after which a thread that wants the interpreter gets it. Scoring wants it back after each of its
# many short operations, and with Python's 5 ms a flood of requests to refuse would leave it next to nothing.
TURN = 2e-4


class Server(uvicorn.Server):
    """Ends in three steps: not ready, no new connections, every accepted request answered.

    While it ends, each answer carries ``Connection: close``; a connection is closed under nobody's hands
    unless it has been idle for a while.
    """

    def __init__(self, service: Service, on_start: Callable[[], None] = lambda: None) -> None:
        settings = service.settings
        self._service, self._on_start = service, on_start
        self._places = Places(places(settings.connections))
        config = uvicorn.Config(
            make_app(service),
            # Not uvicorn's own limit: see there.
            http=partial(BoundedConnection, places=self._places),  # type: ignore[arg-type]
            ws="none",
            loop="asyncio",
            lifespan="on",
            log_config=None,
            access_log=False,
            proxy_headers=False,  # whoever asks could write them
            server_header=False,
            backlog=AT_ONCE,
            timeout_keep_alive=75,
            timeout_graceful_shutdown=int(service.ending.handlers),
            ssl_certfile=settings.tls_cert,
            ssl_keyfile=settings.tls_key,
        )
        super().__init__(config)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begins to listen."""
        if self.config.is_ssl:
            loop = asyncio.get_running_loop()
            loop.create_server = partial(self._listen, loop.create_server)  # type: ignore[method-assign]
        await super().startup(sockets=sockets)
        for listening in sockets or ():
            listening.listen(BACKLOG)  # for which uvicorn has but one number
        self._service.connections = self._places.taken
        self._service.most_connections = self._places.most
        self._on_start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Ends; what was accepted is answered."""
        ending = self._service.ending
        log("stopping", seconds=ending.seconds)
        self._service.draining = True
        loop = asyncio.get_running_loop()
        end = loop.time() + ending.drain
        while loop.time() < end and not self.force_exit:  # a second Ctrl-C
            await asyncio.sleep(0.05)
        for server in self.servers:
            server.close()
        self._service.finish()
        began = quiet_since = loop.time()
        end = began + ending.requests
        # A connection that is used stays open for its last answer; one that is idle is given LINGER seconds.
        while self.server_state.connections and loop.time() < end and not self.force_exit:
            if self.server_state.tasks:
                quiet_since = loop.time()
            elif loop.time() - quiet_since > LINGER:
                break
            if loop.time() > began + LAST_WAIT:
                self._leave_those_who_idle(loop.time() - LAST_WAIT)
            await asyncio.sleep(0.02)
        for connection in list(self._places.taken):
            connection.transport.abort()
        await super().shutdown(sockets=sockets)
        log("stopped")

    async def _listen(
        self, create: Callable[..., Any], make: Callable[[], BoundedConnection], *, ssl: Any, **options: Any
    ) -> Any:
        """As the event loop does, but that connections are counted before they greet each other."""
        return await create(lambda: Greeting(make(), ssl, self._places), **options)

    def _leave_those_who_idle(self, before: float) -> None:
        """Closes connections whose clients have neither sent nor read what they should since ``before``."""
        for connection, since in list(self._places.idle.items()):
            if since < before:
                connection.transport.abort()


def serve(service: Service, on_address: Callable[[str], None] = lambda _: None) -> None:
    """Serves until SIGTERM or Ctrl-C; ``on_address`` is called with the address once it answers."""
    settings = service.settings
    sys.setswitchinterval(TURN)
    listening = listen(settings.host, settings.port)
    set_up_logs(settings.log_format)
    logging.captureWarnings(True)  # a damaged picture may cause some, and a log is of one kind of lines
    port = listening.getsockname()[1]
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    address = f"{settings.scheme}://{host}:{port}"

    def on_start() -> None:
        # A search for circles of objects holds up every client. What is there now stays: of what comes later
        # one takes a moment, of all modules and gates half a second.
        gc.collect()
        gc.freeze()
        log("serving", address=address, gates=service.gates.names, workers=settings.worker_count)
        on_address(address)

    if threading.current_thread() is threading.main_thread():
        # The server hands a signal on once it has ended; to end well is all that was wanted.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, _ended)
    Server(service, on_start).run(sockets=[listening])
    if service.workers.longest():  # a thread cannot be stopped, and Python would wait for it
        sys.stdout.flush()
        os._exit(0)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 is any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, the event loop turns off the delay of small packets: 40 ms an answer.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise SettingsError(
            f"cannot listen at {host} port {port} ({error.strerror or error}): choose another host or port"
        ) from error
    return listening


def places(wanted: int) -> int:
    """How many connections there may be, by the files that the system allows this process.

    The limit that it may set itself is raised to the one that it may not.
    """
    try:
        import resource
    except ImportError:  # there are no such limits on Windows
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + TAKING_FILES + SPARE_FILES
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft < needed:
            return max(1, soft - TAKING_FILES - SPARE_FILES)
    return wanted


def _ended(*_: Any) -> None:
    pass
