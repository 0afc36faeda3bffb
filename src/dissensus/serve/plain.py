"""The endpoints for people and simple programs: score, explain, gate, gates, traffic, metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from fastapi import APIRouter, Query, Request, Response

from dissensus.inputs import Prepared
from dissensus.serve.answers import JsonAnswer, results
from dissensus.serve.explanations import explained
from dissensus.serve.refusals import Overloaded, Refusal
from dissensus.serve.schemas import (
    Explained,
    GateFacts,
    GateNames,
    NothingScored,
    Scored,
    TrafficSummary,
    refusals,
)
from dissensus.serve.sent import Convert, GateName, described_body, read_sent
from dissensus.serve.waiting import Deadline, while_connected

if TYPE_CHECKING:
    from dissensus.explain import Explanation
    from dissensus.serve.served import Served
    from dissensus.serve.service import Service

__all__ = ["plain_routes"]

EXPLAINING = 4  # explanations of one gate that may wait: each takes as long as a batch

Spent = Annotated[
    Literal["fast", "standard", "thorough"] | None,
    Query(description="How much to spend on a picture; default: as the gate was saved."),
]


def plain_routes(service: Service) -> APIRouter:
    """The routes of ``service``."""
    router = APIRouter()
    settings, gates = service.settings, service.gates

    @router.get("/gates", response_model=GateNames, responses=refusals())
    async def list_gates(request: Request) -> Response:
        """The gates that can be asked, and how much at once."""
        names = gates.names
        limits = {
            "max_inputs": settings.max_inputs,
            "max_body": settings.max_body,
            "may_confirm": settings.may_confirm(request.scope.get("client_name")),
        }
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
        openapi_extra=described_body(settings.max_inputs),
    )
    async def score(
        request: Request, gate: GateName = None, convert: Convert = False, effort: Spent = None
    ) -> Response:
        """Scores image files (form field ``files``) or rows (JSON)."""
        deadline = Deadline(settings.timeout)
        service.scoring_requests += 1
        with gates.find(gate) as served:
            sent = await read_sent(service, served, request, deadline, convert)
            decisions, known = None, list[str | None]()
            if len(sent.inputs):
                deciding = served.batcher.decide(sent.inputs, timeout=deadline.left, effort=effort)
                decisions = await while_connected(request, deciding)
                known = await deadline.keep(_known(service, served, sent.prepared))
        found = results(served, sent, decisions, known)
        if decisions is None:
            reason = f"no input could be scored: {sent.problems[0]}"
            return JsonAnswer({"error": reason, "results": found}, 422)
        rate = float(served.gate.false_alarm_rate)
        return JsonAnswer({"gate": served.name, "false_alarm_rate": rate, "results": found})

    @router.post(
        "/explain",
        response_model=Explained,
        responses=refusals(400, 404, 408, 413, 415, 422, 429, 503),
        openapi_extra=described_body(1),
    )
    async def explain(request: Request, gate: GateName = None, convert: Convert = False) -> Response:
        """Explains one image file or one row."""
        deadline = Deadline(settings.timeout)
        with gates.find(gate) as served:
            sent = await read_sent(service, served, request, deadline, convert)
            if len(sent.names) != 1:
                raise Refusal(422, f"one input is explained at a time, not {len(sent.names)}")
            if sent.problems:
                raise Refusal(422, f"the input cannot be scored: {sent.problems[0]}")
            explaining = deadline.keep(_explain(service, served, sent.prepared))
            return JsonAnswer(await while_connected(request, explaining))

    @router.get("/metrics", responses=refusals(), response_class=_Metrics)
    async def metrics(request: Request) -> Response:
        """For Prometheus, in its text format or in OpenMetrics."""
        content, kind = service.metrics.page(request.headers.get("accept", ""))
        return Response(content, headers={"Content-Type": kind})

    return router


class _Metrics(Response):
    media_type = "text/plain; version=0.0.4"


async def _known(service: Service, served: Served, inputs: Prepared) -> list[str | None]:
    """What was said before of each input."""
    if served.gate.confirmed_ is None:
        return [None] * len(inputs)
    await service.workers.take()
    return await service.workers.score(served.gate.known, inputs)


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
