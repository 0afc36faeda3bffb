"""One HTML file that needs nothing else: what every page shares."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from string import Template

__all__ = ["data_uri", "document", "items"]


def document(page: str, title: str, **values: object) -> str:
    """The page of that name, ``page.html`` with ``page.css``, filled with values that are HTML already."""
    body = Template(_resource(f"{page}.html")).substitute(values)
    style = _resource("style.css") + _resource(f"{page}.css")
    return Template(_resource("document.html")).substitute(title=escape(title), style=style, body=body)


def items(sentences: Sequence[str]) -> str:
    """Sentences as the items of a list."""
    return "\n".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)


def data_uri(png: bytes) -> str:
    """A picture as an address that holds it."""
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"


def _resource(name: str) -> str:
    return files("dissensus.report").joinpath(name).read_text("utf-8")
