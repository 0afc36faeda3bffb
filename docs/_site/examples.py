"""Every public name comes with an example: its own, or else the first line of ours that uses it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

from _site.uses import uses

LOGGER = logging.getLogger(__name__)
PACKAGES = (
    "detector", "inputs", "models", "posterior", "likelihood", "scores", "decisions", "evaluation", "latent",
    "explain", "inspection", "outputs", "persistence", "report", "export",
)  # fmt: skip
SHAPE = re.compile(r"(?<=, )\*(?=[A-Z]\b)|(?<=\()\*(?=[A-Z]\b)")


def public(full: str) -> bool:
    """Whether it is one of the names that a package offers."""
    module, _, name = full.rpartition(".")
    package = module.removeprefix("dissensus.")
    return package in PACKAGES and name in import_module(module).__all__


def _public() -> Iterator[tuple[str, Any]]:
    """Every name of every package, and what it is."""
    for package in PACKAGES:
        module = import_module(f"dissensus.{package}")
        yield from ((name, getattr(module, name)) for name in module.__all__)


@cache
def givers() -> Mapping[str, list[str]]:
    """By class, the doctest of a public function or method that returns one of it."""
    found: dict[str, list[str]] = {}
    for name, value in _public():
        members = vars(value).items() if inspect.isclass(value) else [(name, value)]
        for _, member in members:
            returned = str(getattr(member, "__annotations__", {}).get("return", ""))
            example = doctest(inspect.getdoc(member) or "") if inspect.isroutine(member) else []
            for each in re.findall(r"\w+", returned) if example else ():
                found.setdefault(each, example)
    return found


@cache
def giving() -> Mapping[str, list[str]]:
    """By class, the public functions that return one of it."""
    found: dict[str, list[str]] = {}
    for name, value in _public():
        if inspect.isroutine(value):
            for each in re.findall(r"\w+", str(value.__annotations__.get("return", ""))):
                found.setdefault(each, []).append(name)
    return found


def doctest(text: str) -> list[str]:
    """The lines of a docstring's examples."""
    found, inside = [], False
    for line in text.splitlines():
        inside = line.strip().startswith(">>>") or (inside and bool(line.strip()))
        if inside:
            found.append(line.strip() if line.strip().startswith(">>>") else line)
    return found


def example_of(full: str) -> tuple[str, list[str]] | None:
    """Words that say where an example is from, and its lines; None where nobody uses the name."""
    name = full.rpartition(".")[2]
    if name in givers():
        return "Example", givers()[name]
    use = uses().get(name)
    if use is None or use.path.startswith("src/"):  # what gives one says more to a reader
        known = [uses()[giver] for giver in giving().get(name, ()) if giver in uses()]
        use = next((each for each in known if not each.path.startswith("src/")), use)
    return None if use is None else (f"In {use.path}", use.code.splitlines())


def add_example(app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Append an example to a description that has none; a name that nobody uses is a warning."""
    lines[:] = [SHAPE.sub(r"\\*", line) for line in lines]  # the star of (N, *S) is no emphasis
    if not public(name) or any(">>>" in line for line in lines):
        return
    example = example_of(name)
    if example is None:
        LOGGER.warning("%s has no example: add one to its docstring", name)
        return
    title, code = example
    language = "pycon" if code[0].startswith(">>>") else "python"
    lines += ["", f".. rubric:: {title}", "", f".. code-block:: {language}", ""]
    lines += [*(f"   {line}" for line in code), ""]


def keep_colon(app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Keep "T: how many …" of an attribute a sentence: numpydoc would take T for its type."""
    if what in ("attribute", "data", "property") and lines:
        lines[0] = re.sub(r"^([^:`]{1,12}): ", r"\1 – ", lines[0])


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", keep_colon, priority=100)
    app.connect("autodoc-process-docstring", add_example, priority=900)
    return {"parallel_read_safe": True}
