"""The command line: arguments in, calls out.

Nothing heavy is imported before a command runs, so that ``--help`` answers at once.
"""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from dissensus._version import __version__
from dissensus.cli import (
    calibrate,
    confirm,
    demo,
    explain,
    export,
    fit,
    inspect,
    join,
    merge,
    report,
    score,
    serve,
)
from dissensus.cli.failures import Commands

__all__ = ["app", "main"]

app = typer.Typer(
    name="dissensus",
    cls=Commands,
    help="Finds inputs unlike the training data: pictures, table rows, embeddings. No labels are needed. "
    "Begin with: dissensus fit DATA -o gate/, then dissensus score gate/ NEW-DATA.",
    epilog="Exit codes: 0 fine, 1 outliers found (with --fail-on-outliers), 2 the call was wrong, "
    "3 the work failed, 130 interrupted.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
app.command("demo")(demo.demo)
app.command("fit")(fit.fit)
app.command("calibrate")(calibrate.calibrate)
app.command("confirm")(confirm.confirm)
app.command("score")(score.score)
app.command("join")(join.join)
app.command("merge")(merge.merge)
app.command("explain")(explain.explain)
app.command("report")(report.report)
app.command("inspect")(inspect.inspect)
app.command("serve")(serve.serve)
app.command("export")(export.export)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dissensus {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and leave."
        ),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Runs the command line and leaves with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a terminal without Unicode gets escapes, not a crash
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="dissensus")
