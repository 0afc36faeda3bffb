"""What the commands of several benchmarks share: options, and how a measurement ends."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from benchmarks.places import RESULTS

if TYPE_CHECKING:
    from rich.console import Console

    from benchmarks.grids import Grid
    from benchmarks.records import Records

__all__ = [
    "Cache",
    "Device",
    "Figures",
    "Form",
    "Output",
    "Rescore",
    "Seeds",
    "Show",
    "Table",
    "Vary",
    "end",
    "open_records",
    "show_tables",
]


class Form(StrEnum):
    """How tables are printed."""

    terminal = "terminal"
    markdown = "markdown"
    latex = "latex"


Seeds: TypeAlias = Annotated[str, typer.Option(help="Seeds, separated by commas.")]
Device: TypeAlias = Annotated[str, typer.Option(help="auto, cpu or cuda.")]
Output: TypeAlias = Annotated[
    Path | None, typer.Option(help="Where records go. Default: a folder of results/, quick ones apart.")
]
Cache: TypeAlias = Annotated[
    Path | None, typer.Option(help="Where matrices and scores are kept. Default: .cache/benchmarks.")
]
Rescore: TypeAlias = Annotated[
    bool, typer.Option("--rescore", help="Make the records anew from the matrices that are cached.")
]
Vary: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(help="With --select: settings to compare, as in chains=2,4; may be repeated."),
]
Table: TypeAlias = Annotated[bool, typer.Option("--table", help="Only print the tables from the records.")]
Show: TypeAlias = Annotated[Form, typer.Option("--form", help="How tables are printed.")]
Figures: TypeAlias = Annotated[
    bool, typer.Option("--figures", help="Only draw the figures from the records.")
]


def open_records(benchmark: str, output: Path | None, *, quick: bool) -> Records:
    """The records of a benchmark, in a folder that can be written to."""
    from benchmarks.records import Records
    from dissensus.destination import check_folder

    where = output or RESULTS / (f"{benchmark}-quick" if quick else benchmark)
    check_folder(where)
    return Records(where, quick=quick)


def show_tables(
    grids: Sequence[Grid], note: str, records: Records, console: Console, *, form: Form, file: str
) -> None:
    """Prints tables and keeps them beside the records as Markdown; says what to do where there are none."""
    from benchmarks.grids import show

    if grids:
        show(grids, note, console, form=form.value, file=records.folder / file)
    else:
        console.print(f"{records.folder} does not hold enough for a table yet: run the benchmark first.")


def end(failures: Sequence[str], console: Console) -> None:
    """Says what was not measured, and exits with 3 if anything was not."""
    for failure in failures:
        console.print(f"[red]not measured:[/red] {failure}", highlight=False)
    if failures:
        raise typer.Exit(3)
