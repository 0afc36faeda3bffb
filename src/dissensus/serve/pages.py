"""The page and its files, read once at start: requests look names up, and never a path."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from typing import NamedTuple

from fastapi import APIRouter, Request, Response

from dissensus.serve.refusals import Refusal
from dissensus.serve.schemas import refusals

__all__ = ["page_routes"]

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".webmanifest": "application/manifest+json",
}
INDEX = "index.html"


class _File(NamedTuple):
    content: bytes
    kind: str
    tag: str


def page_routes() -> APIRouter:
    """The routes of the page."""
    router = APIRouter(include_in_schema=False)
    known = _read_all()

    @router.get("/", responses=refusals())
    async def page(request: Request) -> Response:
        return _answer(request, known.get(INDEX))

    @router.get("/static/{name}", responses=refusals())
    async def static(request: Request, name: str) -> Response:
        return _answer(request, known.get(name))

    return router


def _read_all() -> dict[str, _File]:
    found = {}
    for file in files("dissensus.serve").joinpath("page").iterdir():
        kind = TYPES.get(f".{file.name.rpartition('.')[2]}")
        if kind is not None and file.is_file():
            content = file.read_bytes()
            found[file.name] = _File(content, kind, f'"{hashlib.sha256(content).hexdigest()[:32]}"')
    return found


def _answer(request: Request, file: _File | None) -> Response:
    if file is None:
        raise Refusal(404, "there is no such page")
    headers = {"ETag": file.tag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == file.tag:
        return Response(status_code=304, headers=headers)
    return Response(file.content, media_type=file.kind, headers=headers)
