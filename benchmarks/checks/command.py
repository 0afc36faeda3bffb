"""The command ``python -m benchmarks checks``: arguments in, calls out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["checks"]


def checks(
    only: Annotated[
        list[str] | None, typer.Option(help="A check; may be repeated. Default: all. See --list.")
    ] = None,
    list_checks: Annotated[bool, typer.Option("--list", help="Only say which checks there are.")] = False,
    seeds: Annotated[str, typer.Option(help="Seeds, separated by commas, of checks that fit.")] = "0,1,2",
    quick: Annotated[bool, typer.Option("--quick", help="A little of everything, kept apart.")] = False,
    output: Annotated[
        Path | None, typer.Option(help="Where records go. Default: results/checks, or results/checks-quick.")
    ] = None,
    table: Annotated[
        bool, typer.Option("--table", help="Measure nothing: the sentences from the records.")
    ] = False,
    again: Annotated[bool, typer.Option("--again", help="Measure even what has a record already.")] = False,
) -> None:
    """Measure single properties: the demo, fusing, memory, streaming, damaged files."""
    from rich.console import Console

    from benchmarks.checks.asked import Asked
    from benchmarks.checks.registry import CHECKS, find_check, find_names
    from benchmarks.pieces import measure_missing
    from benchmarks.places import RESULTS
    from benchmarks.records import Records
    from benchmarks.seeds import parse_seeds
    from dissensus.cli.failures import WORK_FAILED
    from dissensus.destination import check_folder

    console = Console(highlight=False)
    if list_checks:
        for name, what in CHECKS.items():
            console.print(f"{name}: {what}", markup=False, soft_wrap=True)
        return
    where = output or RESULTS / ("checks-quick" if quick else "checks")
    check_folder(where)
    records = Records(where, quick=quick)
    asked = Asked(tuple(parse_seeds(seeds)), quick=quick)
    names = find_names(only or [])
    if not table:
        for name in names:
            log = Console(stderr=True, highlight=False)
            measure_missing(records, find_check(name).pieces(asked), log, again=again)
    for name in names:
        if found := records.read(name):
            for sentence in find_check(name).sentences(found):
                console.print(f"• {sentence}", markup=False, soft_wrap=True)
    if not table and any(record.about.get("findings") for name in names for record in records.read(name)):
        raise typer.Exit(WORK_FAILED)
