"""The endpoint for people who have looked at inputs: confirm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query, Request, Response

from dissensus.serve.answers import JsonAnswer
from dissensus.serve.refusals import Refusal
from dissensus.serve.schemas import Confirmed, refusals
from dissensus.serve.sent import Convert, GateName, described_body, read_sent
from dissensus.serve.waiting import Deadline, while_connected

if TYPE_CHECKING:
    from dissensus.serve.service import Service

__all__ = ["review_routes"]

Normal = Annotated[bool, Query(description="What all of the inputs are: true: normal; false: outliers.")]
Audited = Annotated[
    float,
    Query(
        ge=0,
        le=1,
        description="Of the inputs that were not flagged, the share that was drawn by chance and looked at "
        "too. Normal inputs join the calibration only so; with 0 they are only remembered.",
    ),
]


def review_routes(service: Service) -> APIRouter:
    """The routes of ``service``."""
    router = APIRouter()
    settings, gates = service.settings, service.gates

    @router.post(
        "/confirm",
        response_model=Confirmed,
        responses=refusals(400, 404, 408, 409, 413, 415, 422, 429, 503),
        openapi_extra=described_body(settings.max_inputs),
    )
    async def confirm(
        request: Request,
        normal: Normal,
        gate: GateName = None,
        audited: Audited = 0.0,
        convert: Convert = False,
    ) -> Response:
        """Tells a gate, for good, what a person says of inputs that were looked at."""
        client = request.scope.get("client_name")
        if not settings.may_confirm(client):
            raise Refusal(
                403,
                "only reviewers may say what inputs are: start the service with --reviewer NAME, where NAME "
                "is that of an API key, or '*' for all who may ask",
            )
        deadline = Deadline(settings.timeout)
        with gates.find(gate) as served:
            sent = await read_sent(service, served, request, deadline, convert)
            for place, reason in sent.problems.items():
                raise Refusal(
                    422, f"nothing was confirmed: input {sent.names[place]} cannot be read: {reason}"
                )
            telling = service.confirming.tell(
                service.workers, served, sent.prepared, normal=normal, audited=audited, client=client
            )
            done, after = await while_connected(request, deadline.keep(telling))
        return JsonAnswer(
            {
                "gate": after.name,
                "version": after.loaded.facts["version"],
                "normal": normal,
                **done._asdict(),
                "calibration_inputs": len(after.gate.calibration_scores_),
            }
        )

    return router
