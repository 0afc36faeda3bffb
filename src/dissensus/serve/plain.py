"""The endpoints for people and simple programs: score, explain, gate, gates, traffic, metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from fastapi import APIRouter, Query, Request, Response
from numpy.typing import NDArray

from dissensus.inputs import Prepared
from dissensus.serve.answers import JsonAnswer, results
from dissensus.serve.bodies import Body
from dissensus.serve.explanations import explained
from dissensus.serve.forms import parse_files
from dissensus.serve.images import PictureReader
from dissensus.serve.json_body import parse_object
from dissensus.serve.refusals import Overloaded, Refusal
from dissensus.serve.requests import FilesRequest, RowsRequest
from dissensus.serve.rows import read_rows
from dissensus.serve.schemas import (
    Explained,
    GateFacts,
    GateNames,
    NothingScored,
    Scored,
    TrafficSummary,
    refusals,
)
from dissensus.serve.waiting import Deadline, while_connected

if TYPE_CHECKING:
    from dissensus.explain import Explanation
    from dissensus.serve.served import Served
    from dissensus.serve.service import Service

__all__ = ["plain_routes"]

EXPLAINING = 4  # explanations of one gate that may wait: each takes as long as a batch

GateName = Annotated[
    str | None,
    Query(
        alias="gate",
        max_length=201,
        description="Which gate, or GATE/VERSION; not given: the default.",
    ),
]
Spent = Annotated[
    Literal["fast", "standard", "thorough"] | None,
    Query(description="How much to spend on a picture; default: as the gate was saved."),
]
Convert = Annotated[bool, Query(description="Bring pictures of any size and colour to the gate's shape.")]


def _body(most: int) -> dict[str, Any]:
    """The description of a body with up to ``most`` inputs."""
    rows, files = RowsRequest.model_json_schema(), FilesRequest.model_json_schema()
    for schema, field in ((rows, "rows"), (files, "files")):
        schema["properties"][field]["maxItems"] = most
    content = {"application/json": {"schema": rows}, "multipart/form-data": {"schema": files}}
    return {"requestBody": {"required": True, "content": content}}


def plain_routes(service: Service) -> APIRouter:
    """The routes of ``service``."""
    router = APIRouter()
    settings, gates = service.settings, service.gates

    @router.get("/gates", response_model=GateNames, responses=refusals())
    async def list_gates() -> Response:
        """The gates that can be asked, and how much at once."""
        names = gates.names
        limits = {"max_inputs": settings.max_inputs, "max_body": settings.max_body}
        return JsonAnswer({"gates": names, "default": gates.default, **limits})

    @router.get("/gate", response_model=GateFacts, responses=refusals(404, 422))
    async def describe(gate: GateName = None) -> Response:
        """What a gate was fitted on, what it promises, and its health."""
        return JsonAnswer(gates.find(gate).loaded.facts)

    @router.get("/traffic", response_model=TrafficSummary, responses=refusals(404, 422))
    async def traffic(gate: GateName = None) -> Response:
        """The last 500 decisions, without the inputs, and whether they drift."""
        served = gates.find(gate)
        about = {"gate": served.name, "version": served.loaded.facts["version"]}
        return JsonAnswer(about | served.traffic.summary() | {"requests": service.scoring_requests})

    @router.post(
        "/score",
        response_model=Scored,
        responses=refusals(400, 404, 408, 413, 415, 429, 503)
        | {422: {"model": NothingScored, "description": "Nothing in it can be scored by this gate."}},
        openapi_extra=_body(settings.max_inputs),
    )
    async def score(
        request: Request, gate: GateName = None, convert: Convert = False, effort: Spent = None
    ) -> Response:
        """Scores image files (form field ``files``) or rows (JSON)."""
        deadline = Deadline(settings.timeout)
        service.scoring_requests += 1
        with gates.find(gate) as served:
            async with service.bodies.read(request) as body:
                reading = _inputs(service, served, request, body, convert)
                names, inputs, problems, notes = await deadline.keep(reading)
            decisions = None
            if len(inputs):
                deciding = served.batcher.decide(inputs, timeout=deadline.left, effort=effort)
                decisions = await while_connected(request, deciding)
        found = results(served, names, problems, notes, decisions)
        if decisions is None:
            reason = f"no input could be scored: {problems[0]}"
            return JsonAnswer({"error": reason, "results": found}, 422)
        rate = float(served.gate.false_alarm_rate)
        return JsonAnswer({"gate": served.name, "false_alarm_rate": rate, "results": found})

    @router.post(
        "/explain",
        response_model=Explained,
        responses=refusals(400, 404, 408, 413, 415, 422, 429, 503),
        openapi_extra=_body(1),
    )
    async def explain(request: Request, gate: GateName = None, convert: Convert = False) -> Response:
        """Explains one image file or one row."""
        deadline = Deadline(settings.timeout)
        with gates.find(gate) as served:
            async with service.bodies.read(request) as body:
                reading = _inputs(service, served, request, body, convert)
                names, inputs, problems, notes = await deadline.keep(reading)
            if len(names) != 1:
                raise Refusal(422, f"one input is explained at a time, not {len(names)}")
            if problems:
                raise Refusal(422, f"the input cannot be scored: {problems[0]}")
            explaining = deadline.keep(_explain(service, served, Prepared(inputs, {}, notes)))
            return JsonAnswer(await while_connected(request, explaining))

    @router.get("/metrics", responses=refusals(), response_class=_Metrics)
    async def metrics(request: Request) -> Response:
        """For Prometheus, in its text format or in OpenMetrics."""
        content, kind = service.metrics.page(request.headers.get("accept", ""))
        return Response(content, headers={"Content-Type": kind})

    return router


class _Metrics(Response):
    media_type = "text/plain; version=0.0.4"


async def _inputs(
    service: Service, served: Served, request: Request, body: Body, convert: bool
) -> tuple[list[str | int], NDArray[Any], dict[int, str], Mapping[int, Sequence[str]]]:
    """The names of what was sent, what of it can be scored, why the rest cannot, and what is new about it."""
    content_type = request.headers.get("content-type", "")
    kind, most = content_type.partition(";")[0].strip().lower(), service.settings.max_inputs
    if kind == "multipart/form-data":
        if served.kind != "images":
            raise Refusal(415, f'gate {served.name} takes rows: send JSON such as {{"rows": [[1, 2]]}}')
        uploads = (await service.workers.in_turns(parse_files(body, content_type, most=most)))[-1]
        _count(service, served, request, len(uploads))
        reader = PictureReader(
            served.shape,
            resize=served.gate.resize,
            convert=convert,
            most_pixels=service.settings.max_pixels,
            count_outcome=service.metrics.count_picture,
        )
        found = await reader.read(uploads, service.workers, service.decoders)
        return [upload.name for upload in uploads], found.pixels, found.problems, {}
    if kind == "application/json":
        rows = await service.workers.parse(
            len(body), lambda: read_rows(served, parse_object(body), most=most)
        )
        count = len(rows.numbers) + len(rows.problems)
        _count(service, served, request, count)
        return list(range(count)), rows.numbers, rows.problems, rows.notes
    raise Refusal(415, "the Content-Type must be multipart/form-data for files or application/json for rows")


def _count(service: Service, served: Served, request: Request, inputs: int) -> None:
    """Tells the log and the key's quota, before pictures are decoded: that is most of the work."""
    request.scope.update(gate_name=served.name, inputs=inputs)
    service.quotas.take(request.scope.get("client_name"), inputs)


async def _explain(service: Service, served: Served, inputs: Prepared) -> dict[str, Any]:
    if served.explaining >= EXPLAINING:
        raise Overloaded("too many explanations are being made", 5)
    served.explaining += 1
    try:
        await service.workers.take()
        return await service.workers.score(
            lambda: explained(served, cast("list[Explanation]", served.gate.explain(inputs))[0])
        )
    finally:
        served.explaining -= 1
