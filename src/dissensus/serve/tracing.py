"""Traces of requests for OpenTelemetry, where it is installed and told where to send them."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dissensus._version import __version__
from dissensus.errors import SettingsError

__all__ = ["Tracing", "make_tracer"]

PARENT = ("traceparent", "tracestate")


def make_tracer() -> tuple[Any, Callable[[], object]]:
    """A tracer that exports by OTLP over HTTP, and what ends it.

    Where to is told by the environment, as OpenTelemetry has it: ``OTEL_EXPORTER_OTLP_ENDPOINT``,
    ``OTEL_TRACES_SAMPLER``, ``OTEL_SERVICE_NAME``, ``OTEL_RESOURCE_ATTRIBUTES`` and so on.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise SettingsError("--traces needs OpenTelemetry: pip install 'dissensus[otel]'") from error
    about = {"service.version": __version__}
    if "OTEL_SERVICE_NAME" not in os.environ:
        about["service.name"] = "dissensus"
    provider = TracerProvider(resource=Resource.create(about), shutdown_on_exit=False)
    # Spans wait in a bounded queue, and a thread that a process may leave behind sends them.
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(timeout=5)))
    return provider.get_tracer("dissensus", __version__), provider.shutdown


class Tracing:
    """ASGI middleware: a span for each request, below that of the client's ``traceparent`` if it sends one.

    A span says what a log line says: never what was sent, and of the path its pattern alone.
    """

    def __init__(self, app: ASGIApp, *, tracer: Any) -> None:
        from opentelemetry.propagators.textmap import Getter
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        class FromHeaders(Getter[Headers]):
            def get(self, carrier: Headers, key: str) -> list[str]:
                return carrier.getlist(key)

            def keys(self, carrier: Headers) -> list[str]:
                return [name for name in PARENT if name in carrier]

        self._app, self._tracer = app, tracer
        self._propagator, self._getter = TraceContextTextMapPropagator(), FromHeaders()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        from opentelemetry.trace import SpanKind, Status, StatusCode

        parent = self._propagator.extract(Headers(scope=scope), getter=self._getter)
        span = self._tracer.start_span("request", context=parent, kind=SpanKind.SERVER)
        status = 0

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        scope["trace_id"] = f"{span.get_span_context().trace_id:032x}"
        try:
            await self._app(scope, receive, noted)
        finally:
            route = str(getattr(scope.get("route"), "path", "unmatched"))
            span.update_name(f"{scope['method']} {route}")
            facts = {
                "http.request.method": scope["method"],
                "http.route": route,
                "http.response.status_code": status,
                "url.scheme": scope.get("scheme"),
                "dissensus.request_id": scope.get("request_id"),
                "dissensus.gate": scope.get("gate_name"),
                "dissensus.inputs": scope.get("inputs"),
            }
            span.set_attributes({name: value for name, value in facts.items() if value is not None})
            if status >= 500 or not status:
                span.set_status(Status(StatusCode.ERROR))
            span.end()
