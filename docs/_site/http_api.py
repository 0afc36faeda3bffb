"""The directive ``http-api``: every endpoint of the service, read from its OpenAPI description."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def description() -> dict[str, Any]:
    """What ``GET /openapi.json`` answers; a service takes a gate to start with, here one of a few rows."""
    from dissensus import Detector
    from dissensus.serve.app import make_app
    from dissensus.serve.service import Service
    from dissensus.serve.settings import ServeSettings

    with TemporaryDirectory() as place:
        gate = Path(place) / "gate"
        rows = np.random.default_rng(0).normal(size=(60, 2))
        Detector(epochs=2, false_alarm_rate=0.2).fit(rows).save(gate)
        return make_app(Service(gate, ServeSettings())).openapi()


def sentence(text: str) -> str:
    """Words for a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def kind(schema: dict[str, Any]) -> str:
    """A schema in a word or two."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " or ".join(dict.fromkeys(kind(each) for each in schema[several]))
    if schema.get("type") == "array":
        return f"list of {kind(schema.get('items', {}))}"
    if "enum" in schema:
        return ", ".join(f"`{each}`" for each in schema["enum"])
    return str(schema.get("type", "anything"))


def endpoint(path: str, method: str, about: dict[str, Any]) -> list[str]:
    """One endpoint: what it does, what it takes, what it answers."""
    lines = [f"### `{method.upper()} {path}`", ""]
    told = about.get("description") or about.get("summary") or ""
    lines += ["\n\n".join(" ".join(part.split()) for part in told.split("\n\n")), ""]
    if about.get("parameters"):
        lines += ["| parameter | in | kind | |", "|---|---|---|---|"]
        for each in about["parameters"]:
            lines.append(
                f"| `{each['name']}` | {each['in']} | {kind(each.get('schema', {}))} | "
                f"{sentence(each.get('description', ''))} |"
            )
        lines.append("")
    for type_, content in about.get("requestBody", {}).get("content", {}).items():
        lines += [f"Body, `{type_}`: {kind(content.get('schema', {}))}.", ""]
    lines += ["| status | |", "|---|---|"]
    for status, answer in about.get("responses", {}).items():
        kinds = [
            kind(content["schema"]) for content in answer.get("content", {}).values() if content.get("schema")
        ]
        lines.append(f"| {status} | {sentence(answer.get('description', ''))} {', '.join(kinds)} |")
    return [*lines, ""]


def schema(name: str, about: dict[str, Any]) -> list[str]:
    """One kind of object, by its keys."""
    lines = [f"### {name}", "", sentence(about.get("description", "")), ""]
    properties = about.get("properties", {})
    if properties:
        lines += ["| key | kind | |", "|---|---|---|"]
        for key, value in properties.items():
            lines.append(f"| `{key}` | {kind(value)} | {sentence(value.get('description', ''))} |")
    elif kind(about) != "object":
        lines.append(kind(about))
    return [*lines, ""]


class HttpApi(SphinxDirective):
    """Endpoints, then the objects that they take and answer."""

    def run(self) -> list[nodes.Node]:
        api = description()
        lines = ["## Endpoints", ""]
        for path, methods in api["paths"].items():
            for method, about in methods.items():
                lines += endpoint(path, method, about)
        lines += ["## Objects", ""]
        for name, about in api.get("components", {}).get("schemas", {}).items():
            lines += schema(name, about)
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_directive("http-api", HttpApi)
    return {"parallel_read_safe": True}
