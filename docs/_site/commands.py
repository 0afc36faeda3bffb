"""The directive ``command-line``: every command and option, read from typer."""

from __future__ import annotations

from enum import Enum
from typing import Any

import typer
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from dissensus.cli import app as command_line


def plain(text: str | None) -> str:
    """A help text as Markdown: what could be read as markup stands for itself."""
    words = " ".join((text or "").split())
    for mark in "|<*_":
        words = words.replace(mark, f"\\{mark}")
    return words


def value_of(parameter: Any) -> str:
    """What is written for its value: its metavariable, or the kind of value."""
    kind = parameter.type_descriptor.annotation
    if parameter.metavar:
        return str(parameter.metavar)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return "|".join(member.value for member in kind)
    return {"str": "TEXT", "int": "N", "float": "NUMBER"}.get(getattr(kind, "__name__", ""), "PATH")


def how_given(parameter: Any) -> list[str]:
    """An argument or option in all ways that it may be typed, its value in the first."""
    if parameter.param_type_name == "argument":
        name = (parameter.metavar or parameter.name).upper()
        return [name + ("..." if parameter.nargs != 1 else "")]
    first, *others = [*parameter.opts, *parameter.secondary_opts]
    return [first if parameter.is_flag else f"{first} {value_of(parameter)}", *others]


def default_of(parameter: Any) -> str:
    """What holds where it is not given."""
    value = parameter.default.value if isinstance(parameter.default, Enum) else parameter.default
    if parameter.required:
        return "required"
    shown = (
        value is not None and not isinstance(value, bool) and not callable(value) and value not in ((), [])
    )
    return f"`{value}`" if shown else ""


def described(name: str, command: Any) -> str:
    """One command: what it does, how it is called, its arguments and options."""
    shown = [each for each in command.params if not each.hidden and "--help" not in each.opts]
    arguments = [how_given(each)[0] for each in shown if each.param_type_name == "argument"]
    about = [plain(part) for part in (command.help or "").replace("\b", "").split("\n\n")]
    rows = []
    for each in shown:
        typed = ", ".join(f"`{way}`" for way in how_given(each)).replace("|", "\\|")
        rows.append(f"| {typed} | {plain(each.help)} | {default_of(each)} |")
    usage = " ".join(["dissensus", name, "[OPTIONS]", *arguments])
    table = [":::{table}", ":class: options", "", "| | | default |", "|---|---|---|", *rows, ":::"]
    parts = [f"## {name}", *about, f"```text\n{usage}\n```", "\n".join(table)]
    return "\n\n".join(parts) + "\n"


class CommandLine(SphinxDirective):
    """All commands, in the order of the help."""

    def run(self) -> list[nodes.Node]:
        """Called by Sphinx."""
        commands: dict[str, Any] = getattr(typer.main.get_command(command_line), "commands")  # noqa: B009
        text = "\n".join(described(name, command) for name, command in commands.items())
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True}
