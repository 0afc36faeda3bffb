"""Every public name comes with an example: its own, or else the first line of ours that uses it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from _site.uses import uses
from sphinx.application import Sphinx
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)
PACKAGES = (
    "detector", "inputs", "models", "posterior", "likelihood", "scores", "decisions", "evaluation", "latent",
    "explain", "inspection", "outputs", "persistence", "report", "export",
)  # fmt: skip


def public(full: str) -> bool:
    """Whether it is one of the names that a package offers."""
    module, _, name = full.rpartition(".")
    package = module.removeprefix("dissensus.")
    return package in PACKAGES and name in import_module(module).__all__


def add_example(app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Append an example to a description that has none; a name that nobody uses is a warning."""
    if not public(name) or any(">>>" in line for line in lines):
        return
    use = uses().get(name.rpartition(".")[2])
    if use is None:
        LOGGER.warning("%s has no example: add one to its docstring", name)
        return
    code = [f"   {line}" for line in use.code.splitlines()]
    lines += ["", f".. rubric:: In {use.path}", "", ".. code-block:: python", "", *code, ""]


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", add_example, priority=900)
    return {"parallel_read_safe": True}
