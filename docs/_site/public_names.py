"""The directive ``public-names``: a description of every name that a package offers."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.docutils import SphinxDirective

from _site.examples import add_example

ASKED = "Detector"  # what its subclasses inherit stands with it alone
MOST_SHOWN = 70  # letters of a constant's value


def kind(value: Any) -> str:
    """What it is, to those who read about it."""
    if inspect.isclass(value):
        return "class"
    return "function" if inspect.isroutine(value) or hasattr(value, "__wrapped__") else "constant"


def about_constant(package: str, name: str) -> list[str]:
    """The words below a constant where it is defined, which may be some imports away."""
    home, called = package, name
    while True:
        analyzer = ModuleAnalyzer.for_module(home)
        analyzer.analyze()
        if ("", called) in analyzer.attr_docs:
            return list(analyzer.attr_docs["", called])
        source = next(
            (
                (node.module, alias.name)
                for node in imports(home)
                for alias in node.names
                if (alias.asname or alias.name) == called
            ),
            None,
        )
        if source is None:
            return []
        home, called = source


def imports(module: str) -> list[Any]:
    """Where a module's names come from."""
    import ast

    tree = ast.parse(inspect.getsource(import_module(module)))
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dissensus")
    ]


def constant(app: Sphinx, package: str, name: str, value: Any) -> list[str]:
    """A constant with its value, if that is short."""
    full = f"{package}.{name}"
    shown = repr(value)
    told = about_constant(package, name)
    add_example(app, "data", full, value, None, told)
    head = [f".. py:data:: {full}"]
    if len(shown) <= MOST_SHOWN and " at 0x" not in shown:
        head.append(f"   :value: {shown}")
    return [*head, "", *(f"   {line}" for line in told), ""]


class PublicNames(SphinxDirective):
    """Classes first, then functions, then constants; each by the alphabet."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Called by Sphinx."""
        package = import_module(self.arguments[0])
        lines: list[str] = []
        for wanted in ("class", "function", "constant"):
            for name in sorted(package.__all__, key=str.lower):
                value = getattr(package, name)
                if kind(value) != wanted:
                    continue
                if wanted == "constant":
                    lines += constant(self.env.app, package.__name__, name, value)
                    continue
                lines.append(f".. auto{wanted}:: {package.__name__}.{name}")
                if name == ASKED:
                    lines.append("   :inherited-members: BaseEstimator, OutlierMixin")
                lines.append("")
        return self.parse_text_to_nodes(StringList(lines, source=package.__name__))


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_directive("public-names", PublicNames)
    return {"parallel_read_safe": True}
