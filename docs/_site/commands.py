"""The directive ``command-line``: every command and option, read from typer."""

from __future__ import annotations

from typing import Any

import click
import typer
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from dissensus.cli import app as command_line


def plain(text: str | None) -> str:
    """A help text as Markdown: what could be read as markup stands for itself."""
    words = " ".join((text or "").split())
    return words.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")


def names(parameter: click.Parameter, context: click.Context) -> str:
    """How it is given on the command line."""
    if isinstance(parameter, click.Argument):
        return f"`{parameter.make_metavar(context)}`"
    given = ", ".join([*parameter.opts, *parameter.secondary_opts])
    flag = getattr(parameter, "is_flag", False)
    return f"`{given}`" if flag else f"`{given} {parameter.make_metavar(context)}`"


def default(parameter: click.Parameter) -> str:
    """What holds where it is not given."""
    value = parameter.default
    if parameter.required:
        return "required"
    if value is None or value is False or callable(value) or value in ((), []) or "UNSET" in repr(value).upper():
        return ""
    return f"`{value}`" if value is not True else "yes"


def described(name: str, command: click.Command) -> str:
    """One command: what it does, how it is called, its options."""
    context = click.Context(command, info_name=f"dissensus {name}")
    usage = command.get_usage(context).removeprefix("Usage: ")
    # A paragraph a line; "\b" and the like are for terminals.
    about = [plain(part) for part in (command.help or "").replace("\b", "").split("\n\n")]
    rows = []
    for parameter in command.params:
        if getattr(parameter, "hidden", False) or "--help" in parameter.opts:
            continue
        rows.append(
            f"| {names(parameter, context)} | {plain(getattr(parameter, 'help', ''))} | {default(parameter)} |"
        )
    table = ["| | | default |", "|---|---|---|", *rows] if rows else []
    return "\n".join([f"## {name}", "", *"\n\n".join(about).split("\n"), "", f"```\n{usage}\n```", "", *table, ""])


class CommandLine(SphinxDirective):
    """All commands, in the order of the help."""

    def run(self) -> list[nodes.Node]:
        group = typer.main.get_command(command_line)
        assert isinstance(group, click.Group) or hasattr(group, "commands")
        text = "\n".join(described(name, command) for name, command in group.commands.items())
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True}
