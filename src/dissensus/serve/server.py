"""The process: sockets, TLS, signals, and an end that loses nothing."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import uvicorn

from dissensus.errors import SettingsError
from dissensus.serve.app import make_app
from dissensus.serve.connections import PatientConnection
from dissensus.serve.logs import log, set_up_logs

if TYPE_CHECKING:
    from dissensus.serve.service import Service

__all__ = ["Server", "serve"]

LINGER = 1.0  # seconds that open connections get for the request they may just be sending
BACKLOG = 1024
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
        config = uvicorn.Config(
            make_app(service),
            http=PatientConnection,
            ws="none",
            loop="asyncio",
            lifespan="on",
            log_config=None,
            access_log=False,
            proxy_headers=False,  # whoever asks could write them
            server_header=False,
            timeout_keep_alive=75,
            timeout_graceful_shutdown=int(settings.timeout) + 10,
            ssl_certfile=settings.tls_cert,
            ssl_keyfile=settings.tls_key,
        )
        super().__init__(config)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begins to listen."""
        await super().startup(sockets=sockets)
        self._on_start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Ends; what was accepted is answered."""
        log("stopping", seconds=self._service.settings.drain)
        self._service.draining = True
        loop = asyncio.get_running_loop()
        end = loop.time() + self._service.settings.drain
        while loop.time() < end and not self.force_exit:  # a second Ctrl-C
            await asyncio.sleep(0.05)
        for server in self.servers:
            server.close()
        self._service.finish()
        quiet_since, end = loop.time(), loop.time() + self._service.settings.timeout + LINGER
        # A connection that is used stays open for its last answer; one that is idle is given LINGER seconds.
        while self.server_state.connections and loop.time() < end and not self.force_exit:
            if self.server_state.tasks:
                quiet_since = loop.time()
            elif loop.time() - quiet_since > LINGER:
                break
            await asyncio.sleep(0.02)
        await super().shutdown(sockets=sockets)
        log("stopped")


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
        log("serving", address=address, gates=service.gates.names, workers=settings.worker_count)
        on_address(address)

    if threading.current_thread() is threading.main_thread():
        # The server hands a signal on once it has ended; to end well is all that was wanted.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, _ended)
    Server(service, on_start).run(sockets=[listening])


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


def _ended(*_: Any) -> None:
    pass
