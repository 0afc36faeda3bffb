"""The Open Inference Protocol, version 2, over HTTP: what standard clients speak."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Path, Request, Response

from dissensus._version import __version__
from dissensus.serve.answers import JsonAnswer
from dissensus.serve.refusals import Refusal
from dissensus.serve.requests import REFERENCE, InferRequest, OutputName
from dissensus.serve.schemas import Live, Ready, refusals
from dissensus.serve.schemas_v2 import (
    InferResponse,
    ModelMetadata,
    ModelReady,
    ModelStats,
    ServerMetadata,
)
from dissensus.serve.tensors import LENGTH, encode_response, parse_infer
from dissensus.serve.v2_inputs import described_inputs, tensor_inputs
from dissensus.serve.waiting import Deadline, while_connected

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dissensus.serve.served import Served
    from dissensus.serve.service import Service
    from dissensus.serve.tensors import Asked

__all__ = ["v2_routes"]

EXTENSIONS = ["binary_tensor_data", "model_repository", "statistics"]
OUTPUTS: dict[OutputName, str] = {"score": "FP64", "p_value": "FP64", "flagged": "BOOL"}

ModelName = Annotated[str, Path(max_length=100)]
ModelVersion = Annotated[
    str,
    Path(max_length=100, description="1; where a gate has several, the name of the version's folder."),
]

_REQUEST = {"$ref": REFERENCE.format(model=InferRequest.__name__)}
_BYTES = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
_BODY = {
    "requestBody": {"required": True, "content": {"application/json": {"schema": _REQUEST}, **_BYTES}},
    "parameters": [
        {
            "name": LENGTH,
            "in": "header",
            "required": False,
            "description": "Bytes of JSON in front; the raw tensors stand behind it.",
            "schema": {"type": "integer", "minimum": 0},
        }
    ],
}
_BINARY: dict[int | str, dict[str, Any]] = {
    200: {
        "description": f"JSON; with binary outputs, {LENGTH} bytes of JSON and the tensors' bytes behind it.",
        "content": _BYTES,
    }
}


def v2_routes(service: Service) -> APIRouter:
    """The routes of ``service``."""
    router = APIRouter(prefix="/v2")
    gates = service.gates

    @router.get("/", include_in_schema=False)
    @router.get("", response_model=ServerMetadata, responses=refusals())
    async def server() -> Response:
        """What this server is."""
        return JsonAnswer({"name": "dissensus", "version": __version__, "extensions": EXTENSIONS})

    @router.get("/health/live", response_model=Live, responses=refusals())
    async def live() -> dict[str, bool]:
        """Whether the process answers at all."""
        return {"live": True}

    @router.get("/health/ready", response_model=Ready, responses=refusals() | {503: {"model": Ready}})
    async def ready() -> Response:
        """Whether gates are loaded, workers and picture decoders work, and the service is not stopping."""
        problems = service.problems()
        # A gate that could not be replaced is worth a word, but the older one answers.
        words = [*problems, *gates.problems.values()]
        content = {"ready": not problems, "problems": words, "gates": len(gates.names)}
        return JsonAnswer(content, 503 if problems else 200)

    def found(name: str, version: str | None) -> Served:
        return gates.find(name, version)

    async def model(name: ModelName) -> Response:
        """A gate's tensors."""
        return metadata(found(name, None))

    async def model_ready(name: ModelName) -> Response:
        """Whether a gate can be asked."""
        return readiness(found(name, None))

    async def model_stats(name: ModelName) -> Response:
        """How often a gate was asked, and how long that took."""
        return JsonAnswer({"model_stats": [found(name, None).stats()]})

    async def infer(request: Request, name: ModelName) -> Response:
        """Scores tensors: ``images`` (n, H, W, C), ``rows`` (n, D), or one for each column of a table."""
        with found(name, None) as served:
            return await _infer(service, served, request)

    async def version_model(name: ModelName, version: ModelVersion) -> Response:
        """A gate's tensors."""
        return metadata(found(name, version))

    async def version_ready(name: ModelName, version: ModelVersion) -> Response:
        """Whether a gate can be asked."""
        return readiness(found(name, version))

    async def version_stats(name: ModelName, version: ModelVersion) -> Response:
        """How often a gate was asked, and how long that took."""
        return JsonAnswer({"model_stats": [found(name, version).stats()]})

    async def version_infer(request: Request, name: ModelName, version: ModelVersion) -> Response:
        """Scores tensors: ``images`` (n, H, W, C), ``rows`` (n, D), or one for each column of a table."""
        with found(name, version) as served:
            return await _infer(service, served, request)

    def metadata(served: Served) -> Response:
        return JsonAnswer(_metadata(served, gates.versions(served.model)))

    def readiness(served: Served) -> Response:
        if not served.batcher.alive or service.draining:
            raise Refusal(503, f"gate {served.name} is not ready")
        return JsonAnswer({"name": served.model, "ready": True})

    may_ask = refusals(400, 404, 408, 413, 415, 422, 429, 503)
    for path, own_model, own_ready, own_stats, own_infer in (
        ("/models/{name}", model, model_ready, model_stats, infer),
        ("/models/{name}/versions/{version}", version_model, version_ready, version_stats, version_infer),
    ):
        router.get(f"{path}/stats", response_model=ModelStats, responses=refusals(404, 422))(own_stats)
        router.get(path, response_model=ModelMetadata, responses=refusals(404, 422))(own_model)
        router.get(f"{path}/ready", response_model=ModelReady, responses=refusals(404, 422, 503))(own_ready)
        router.post(
            f"{path}/infer", response_model=InferResponse, responses=may_ask | _BINARY, openapi_extra=_BODY
        )(own_infer)
    return router


async def _infer(service: Service, served: Served, request: Request) -> Response:
    deadline = Deadline(service.settings.timeout)
    service.scoring_requests += 1
    asked, inputs = await _read(service, served, request, deadline)
    request.scope.update(gate_name=served.name, inputs=len(inputs))
    service.quotas.take(request.scope.get("client_name"), len(inputs))
    deciding = served.batcher.decide(inputs, timeout=deadline.left)
    decisions = await while_connected(request, deciding)
    wanted = asked.outputs or dict.fromkeys(OUTPUTS, asked.binary)
    outputs = [(name, getattr(decisions, name), binary) for name, binary in wanted.items()]
    head: dict[str, Any] = {"model_name": served.model, "model_version": served.version}
    if asked.id is not None:
        head["id"] = asked.id
    content, headers = encode_response(head, outputs)
    return Response(content, headers=headers)


async def _read(
    service: Service, served: Served, request: Request, deadline: Deadline
) -> tuple[Asked, NDArray[Any]]:
    """What is asked, and the inputs; its tensors, which are parts of the body, are left behind with it."""
    most = service.settings.max_inputs
    async with service.bodies.read(request) as body:

        def read() -> tuple[Asked, NDArray[Any]]:
            asked = parse_infer(body, request.headers.get(LENGTH))
            inputs = tensor_inputs(served, asked.inputs, most=most)
            return asked._replace(inputs={}), inputs if inputs.flags.owndata else inputs.copy()

        return await deadline.keep(service.workers.parse(len(body), read))


def _metadata(served: Served, versions: list[str]) -> dict[str, Any]:
    outputs = [{"name": name, "datatype": kind, "shape": [-1]} for name, kind in OUTPUTS.items()]
    return {
        "name": served.model,
        "versions": versions,
        "platform": "dissensus",
        "inputs": described_inputs(served),
        "outputs": outputs,
    }
