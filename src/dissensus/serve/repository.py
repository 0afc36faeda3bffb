"""The repository of the Open Inference Protocol: which gates there are, and loading and unloading them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Path, Request, Response

from dissensus.serve.answers import JsonAnswer
from dissensus.serve.json_body import parse_object
from dissensus.serve.refusals import Refusal
from dissensus.serve.schemas import refusals
from dissensus.serve.schemas_v2 import IndexEntry

if TYPE_CHECKING:
    from dissensus.serve.service import Service

__all__ = ["repository_routes"]

RepositoryName = Annotated[
    str, Path(max_length=201, description="A gate. Of one with several versions: all of them.")
]


def repository_routes(service: Service) -> APIRouter:
    """The routes of ``service``."""
    router = APIRouter(prefix="/v2/repository")
    gates = service.gates

    @router.post("/index", response_model=list[IndexEntry], responses=refusals(400, 408, 413))
    async def index(request: Request) -> Response:
        """The gates that are in the folder, and whether each is served."""
        asked = await _options(service, request)
        entries = gates.index()
        return JsonAnswer([entry for entry in entries if not asked.get("ready") or entry["state"] == "READY"])

    @router.post("/models/{name}/load", responses=refusals(400, 404, 408, 413, 422))
    async def load(request: Request, name: RepositoryName) -> Response:
        """Reads a gate again, or one that was unloaded, and answers once it is served."""
        _check_operator(service, request)
        if (await _options(service, request)).get("parameters"):
            raise Refusal(400, "no parameters are taken: a gate is served as it is in its folder")
        await gates.load(name)
        return Response(status_code=200)

    @router.post("/models/{name}/unload", responses=refusals(400, 404, 408, 413, 422))
    async def unload(request: Request, name: RepositoryName) -> Response:
        """Serves a gate no more until it is loaded again; what it has accepted it answers."""
        _check_operator(service, request)
        await _options(service, request)
        gates.unload(name)
        return Response(status_code=200)

    return router


def _check_operator(service: Service, request: Request) -> None:
    if request.scope.get("client_name") not in service.settings.operators:
        raise Refusal(
            403,
            "only operators may load and unload gates: start the service with --operator NAME, where NAME is "
            "that of an API key",
        )


async def _options(service: Service, request: Request) -> dict[str, Any]:
    async with service.bodies.read(request) as body:
        return parse_object(body) if bytes(body).strip() else {}
