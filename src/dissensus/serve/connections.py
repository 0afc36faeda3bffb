"""Connections that do not wait for ever: a request's head must arrive within a time, too."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["PatientConnection"]

HEAD_SECONDS = 15.0


class PatientConnection(H11Protocol):
    """Closes a connection whose request head is not complete 15 seconds after its first byte.

    The server itself limits idle connections only, so that whoever sends a byte now and then could hold as
    many as there are.
    """

    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """A client has connected."""
        super().connection_made(transport)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        """Bytes have come in."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._cancel_timer()
        elif self._head_timer is None and not self.transport.is_closing():
            self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone."""
        self._cancel_timer()
        super().connection_lost(exc)

    def _expect_head(self) -> None:
        self._head_timer = self.loop.call_later(HEAD_SECONDS, self._too_late)

    def _cancel_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _too_late(self) -> None:
        self._head_timer = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()
