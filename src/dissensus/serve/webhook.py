"""Alarms posted to the operator's address: tried again a few times, and never in the way of answers."""

from __future__ import annotations

import asyncio
import http.client
import json
import ssl
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from dissensus.errors import brief
from dissensus.serve.aside import aside
from dissensus.serve.logs import log
from dissensus.serve.metrics import Metrics

__all__ = ["Webhook"]

WAITING = 16  # alarms; more would say nothing new
PAUSES = (1.0, 4.0, 15.0, 60.0)  # seconds before each further try
SECONDS = 10.0  # for one try


class Webhook:
    """Posts JSON to one address and nowhere else: redirects are not followed."""

    def __init__(self, address: str, metrics: Metrics, *, pauses: Sequence[float] = PAUSES) -> None:
        self._address, self._metrics, self._pauses = urlsplit(address), metrics, pauses
        self._queue: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue(WAITING)
        self._task = asyncio.create_task(self._run())

    def post(self, event: Mapping[str, Any]) -> None:
        """Queues an event; one too many is dropped and counted."""
        try:
            self._queue.put_nowait(event)
        except asyncio.QueueFull:
            self._outcome("dropped", "too many wait")

    async def close(self) -> None:
        """Delivers what is queued, and ends; cancelled, it ends at once."""
        try:
            await self._queue.join()
        finally:
            self._task.cancel()

    async def _run(self) -> None:
        while True:
            event = await self._queue.get()
            try:
                await self._deliver(json.dumps(event, allow_nan=False).encode())
            except Exception as error:  # an alarm that cannot be said must not end the next one
                self._outcome("failed", brief(error))
            finally:
                self._queue.task_done()

    async def _deliver(self, body: bytes) -> None:
        for pause in (*self._pauses, None):
            try:
                status = await aside(self._send, body)
                reason = f"it answered {status}"
            except (OSError, http.client.HTTPException) as error:
                status, reason = 0, brief(error)
            if 200 <= status < 300:
                self._outcome("delivered", None)
                return
            if pause is None:
                break
            await asyncio.sleep(pause)
        self._outcome("failed", reason)

    def _send(self, body: bytes) -> int:
        host, port = self._address.hostname or "", self._address.port
        connection = (
            http.client.HTTPSConnection(host, port, timeout=SECONDS, context=ssl.create_default_context())
            if self._address.scheme == "https"
            else http.client.HTTPConnection(host, port, timeout=SECONDS)
        )
        path = (self._address.path or "/") + (f"?{self._address.query}" if self._address.query else "")
        try:
            connection.request("POST", path, body, {"Content-Type": "application/json"})
            return connection.getresponse().status
        finally:
            connection.close()

    def _outcome(self, outcome: str, reason: str | None) -> None:
        """The host alone is logged: the path of such an address is often a secret."""
        self._metrics.webhooks.labels(outcome).inc()
        level = "info" if outcome == "delivered" else "error"
        log(f"webhook {outcome}", level=level, host=self._address.hostname, reason=reason)
