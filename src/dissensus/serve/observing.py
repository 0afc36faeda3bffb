"""Every request counted, timed, logged and given an id; whatever fails becomes a sentence."""

from __future__ import annotations

import itertools
import re
import time
import uuid
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dissensus.errors import brief
from dissensus.serve.answers import JsonAnswer
from dissensus.serve.logs import log
from dissensus.serve.metrics import Metrics

__all__ = ["Catching", "Observing"]

ID = re.compile(r"[A-Za-z0-9._:-]{1,100}")
_PROCESS = uuid.uuid4().hex[:16]  # a number behind it is unique, and takes no system call a request
_numbers = itertools.count(1)
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Observing:
    """ASGI middleware: the outermost, so that nothing is missed."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        number = request_id(Headers(scope=scope).get("x-request-id"))
        began, status = time.perf_counter(), 0

        async def observed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-ID"] = number
            await send(message)

        scope["request_id"] = number
        self._metrics.in_flight.inc()
        try:
            await self._app(scope, receive, observed)
        finally:
            self._metrics.in_flight.dec()
            self._finish(scope, number, status, time.perf_counter() - began)

    def _finish(self, scope: Scope, number: str, status: int, seconds: float) -> None:
        route, method = route_of(scope), scope["method"]
        method = method if method in METHODS else "other"
        self._metrics.requests.labels(route, method, str(status)).inc()
        self._metrics.latency.labels(route).observe(seconds)
        client: Any = scope.get("client") or (None,)
        log(
            "request",
            id=number,
            method=method,
            route=route,
            status=status,
            ms=round(1000 * seconds, 1),
            trace=scope.get("trace_id"),
            remote=client[0],
            client=scope.get("client_name"),
            gate=scope.get("gate_name"),
            inputs=scope.get("inputs"),
        )


class Catching:
    """ASGI middleware: the innermost, so that a failure's answer carries what every answer does."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request, with 500 if need be."""
        started = False

        async def noticed(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, noticed)
        except Exception as error:
            if scope["type"] != "http" or started:
                raise
            number = scope["request_id"]
            log("request failed", level="error", id=number, reason=f"{type(error).__name__}: {brief(error)}")
            message = f"the service failed: please report it with the id {number}"
            await JsonAnswer({"error": message}, 500)(scope, receive, send)


def route_of(scope: Scope) -> str:
    """The route's pattern; paths themselves are of anybody's making and go nowhere."""
    return str(getattr(scope.get("route"), "path", "unmatched"))


def request_id(given: str | None) -> str:
    """The client's own id where it is harmless, or a new one."""
    return given if given is not None and ID.fullmatch(given) else f"{_PROCESS}-{next(_numbers):x}"
