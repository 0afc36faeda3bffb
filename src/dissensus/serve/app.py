"""The application: all routes behind what every request passes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Route

from dissensus._version import __version__
from dissensus.serve.answers import JsonAnswer
from dissensus.serve.aside import aside
from dissensus.serve.framing import Framing
from dissensus.serve.guards import OPEN, Guards
from dissensus.serve.observing import Catching, Observing
from dissensus.serve.pages import page_routes
from dissensus.serve.plain import plain_routes
from dissensus.serve.refusals import Refusal, clear
from dissensus.serve.repository import repository_routes
from dissensus.serve.requests import definitions, sentence
from dissensus.serve.review import review_routes
from dissensus.serve.service import Service
from dissensus.serve.settings import LOOPBACK_NAMES, is_loopback
from dissensus.serve.tracing import Tracing
from dissensus.serve.v2 import v2_routes

__all__ = ["make_app"]

DESCRIPTION = "Tells which inputs are unlike those a gate was fitted on."


class Application(FastAPI):
    """Describes its API when that is first asked for: it takes a tenth of a second, most of a start."""

    def __init__(self, *, keys_needed: bool, **settings: Any) -> None:
        self._keys_needed = keys_needed
        super().__init__(**settings)

    def openapi(self) -> dict[str, Any]:
        """The description, with the parts that are written by hand."""
        if self.openapi_schema is None:
            described = super().openapi()
            described["components"]["schemas"] |= definitions()
            if self._keys_needed:
                _describe_keys(described)
        return super().openapi()


def make_app(service: Service) -> FastAPI:
    """The ASGI application of a service; its lifespan starts and ends the service."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with service.runs():
            yield

    app = Application(
        keys_needed=service.keys is not None,
        title="dissensus",
        description=DESCRIPTION,
        version=__version__,
        lifespan=lifespan,
        openapi_url=None,  # written anew for each who asks
        docs_url=None,  # those pages fetch scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        exception_handlers={
            Refusal: _refused,
            HTTPException: _not_found,
            RequestValidationError: _not_valid,
        },
    )
    for router in (
        plain_routes(service),
        review_routes(service),
        v2_routes(service),
        repository_routes(service),
        page_routes(),
    ):
        app.include_router(router)
        service.metrics.expect_routes(
            (route.path, method)
            for route in router.routes
            if isinstance(route, Route)
            for method in sorted(route.methods or ())
        )

    @cache
    def described() -> asyncio.Task[bytes]:
        # Beside the event loop: meanwhile others are answered.
        return asyncio.create_task(aside(lambda: bytes(JsonAnswer(app.openapi()).body)))

    @app.get("/openapi.json", include_in_schema=False)
    async def describe() -> Response:
        # Shielded: the first who asks may leave before it is there.
        return Response(await asyncio.shield(described()), media_type=JsonAnswer.media_type)

    settings = service.settings
    own = (*LOOPBACK_NAMES, settings.host) if is_loopback(settings.host) else ()
    # The last is the outermost.
    app.add_middleware(Catching)
    app.add_middleware(
        Guards,
        keys=service.keys,
        allowed_hosts=settings.allowed_hosts or own,
        draining=lambda: service.draining,
        tls=settings.tls_cert is not None,
    )
    app.add_middleware(Framing)
    app.add_middleware(Observing, metrics=service.metrics)
    if service.tracer is not None:
        app.add_middleware(Tracing, tracer=service.tracer)
    return app


def _describe_keys(described: dict[str, Any]) -> None:
    """Adds to the description of the API that a key is needed, and where."""
    schemes = {
        "bearer": {"type": "http", "scheme": "bearer"},
        "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    }
    described.setdefault("components", {})["securitySchemes"] = schemes
    for path, operations in described["paths"].items():
        for operation in operations.values():
            operation["security"] = [] if path.startswith(OPEN) else [{name: []} for name in schemes]


async def _refused(_: Request, refusal: Exception) -> Response:
    assert isinstance(refusal, Refusal)
    return JsonAnswer({"error": refusal.message}, refusal.status, refusal.headers)


async def _not_found(_: Request, error: Exception) -> Response:
    """What the router itself refuses: unknown paths and methods."""
    assert isinstance(error, HTTPException)
    words = {404: "there is no such page", 405: "the method is not taken here"}
    return JsonAnswer(
        {"error": words.get(error.status_code, clear(error.detail))}, error.status_code, error.headers
    )


async def _not_valid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    # Where it came from, query or path, is not what a person calls it.
    return JsonAnswer({"error": clear(sentence({**first, "loc": first["loc"][1:]}))}, 422)
