"""What plain requests send: image files as a form or rows as JSON, read as their gate takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from fastapi import Query, Request
from numpy.typing import NDArray

from dissensus.inputs import Prepared
from dissensus.serve.forms import parse_files
from dissensus.serve.images import PictureReader
from dissensus.serve.json_body import parse_object
from dissensus.serve.refusals import Refusal
from dissensus.serve.requests import FilesRequest, RowsRequest
from dissensus.serve.rows import read_rows
from dissensus.serve.waiting import Deadline

if TYPE_CHECKING:
    from dissensus.serve.bodies import Body
    from dissensus.serve.served import Served
    from dissensus.serve.service import Service

__all__ = ["Convert", "GateName", "Sent", "described_body", "read_sent"]

GateName = Annotated[
    str | None,
    Query(
        alias="gate",
        max_length=201,
        description="Which gate, or GATE/VERSION; not given: the default.",
    ),
]
Convert = Annotated[bool, Query(description="Bring pictures of any size and colour to the gate's shape.")]


class Sent(NamedTuple):
    """The inputs of a request."""

    names: list[str | int]
    """Of all that was sent: a file's name, or a row's number."""
    inputs: NDArray[Any]
    """Those that can be scored, in order."""
    problems: dict[int, str]
    """Place → why one cannot."""
    notes: Mapping[int, Sequence[str]]
    """Place → what no training input had, in words."""

    @property
    def prepared(self) -> Prepared:
        """Those that can be scored, as a detector takes them."""
        return Prepared(self.inputs, {}, self.notes)


def described_body(most: int) -> dict[str, Any]:
    """The description of a body with up to ``most`` inputs."""
    rows, files = RowsRequest.model_json_schema(), FilesRequest.model_json_schema()
    for schema, field in ((rows, "rows"), (files, "files")):
        schema["properties"][field]["maxItems"] = most
    content = {"application/json": {"schema": rows}, "multipart/form-data": {"schema": files}}
    return {"requestBody": {"required": True, "content": content}}


async def read_sent(
    service: Service, served: Served, request: Request, deadline: Deadline, convert: bool
) -> Sent:
    """The inputs of a request's body, whatever type it has; one that the gate does not take is a refusal."""
    async with service.bodies.read(request) as body:
        return await deadline.keep(_taken_apart(service, served, request, body, convert))


async def _taken_apart(service: Service, served: Served, request: Request, body: Body, convert: bool) -> Sent:
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
        return Sent([upload.name for upload in uploads], found.pixels, found.problems, {})
    if kind == "application/json":
        rows = await service.workers.parse(
            len(body), lambda: read_rows(served, parse_object(body), most=most)
        )
        count = len(rows.numbers) + len(rows.problems)
        _count(service, served, request, count)
        return Sent(list(range(count)), rows.numbers, rows.problems, rows.notes)
    raise Refusal(415, "the Content-Type must be multipart/form-data for files or application/json for rows")


def _count(service: Service, served: Served, request: Request, inputs: int) -> None:
    """Tells the log and the key's quota, before pictures are decoded: that is most of the work."""
    request.scope.update(gate_name=served.name, inputs=inputs)
    service.quotas.take(request.scope.get("client_name"), inputs)
