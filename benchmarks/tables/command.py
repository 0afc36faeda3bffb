"""The command ``python -m benchmarks tables``: arguments in, calls out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchmarks.options import Form, Output, Seeds, Show, Table

__all__ = ["tables"]

FEW = 2  # sets, to try it out


def tables(
    folder: Annotated[
        Path | None,
        typer.Option(
            "--tables",
            help="Tables as NAME.npz with rows X and labels y. Default: DISSENSUS_TABLES, or "
            "shared/data/tables beside the checkout.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="A detector; may be repeated. Default: all that are here.")
    ] = None,
    seeds: Seeds = "0,1,2",
    workers: Annotated[int, typer.Option(min=1, help="Processes at once, of one core each.")] = 1,
    contaminated: Annotated[
        bool, typer.Option("--contaminated", help="Eight tables with 5 to 10% anomalies to fit on.")
    ] = False,
    select: Annotated[
        bool,
        typer.Option("--select", help="Compare settings of Detector by halves of the sets (candidates.py)."),
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="The two smallest sets and the first seed, kept apart.")
    ] = False,
    output: Output = None,
    table: Table = False,
    form: Show = Form.terminal,
    again: Annotated[bool, typer.Option("--again", help="Measure even what has a record already.")] = False,
) -> None:
    """Measure detectors on tables and embeddings, ours beside kNN and others; tables and rank figure."""
    from rich.console import Console

    from benchmarks.options import open_records, show_tables
    from benchmarks.seeds import parse_seeds
    from benchmarks.tables.candidates import candidate_detectors
    from benchmarks.tables.detectors import find_detectors
    from benchmarks.tables.figure import draw_ranks
    from benchmarks.tables.jobs import jobs_of, measure_jobs
    from benchmarks.tables.selection import SELECTION_NOTE, selection_grids, sum_grids
    from benchmarks.tables.sets import default_folder, find_tables
    from benchmarks.tables.table import table_grids, table_note

    if select and (contaminated or only):
        raise typer.BadParameter("--select measures its own candidates, on all sets: give it alone")
    numbers, detectors = parse_seeds(seeds), find_detectors(only or [])
    candidates = candidate_detectors()
    records = open_records("tables", output, quick=quick)
    console, log = Console(highlight=False), Console(stderr=True, highlight=False)
    if not table:
        paths = find_tables(folder or default_folder())
        if quick:
            paths, numbers = paths[-FEW:], numbers[:1]
        jobs = jobs_of(candidates if select else detectors, paths, numbers, log, contaminated=contaminated)
        measure_jobs(records, jobs, workers, log, again=again)
    if select:
        grids = selection_grids(records, list(candidates)) + sum_grids(records)
        show_tables(grids, SELECTION_NOTE, records, console, form=form, file="selection.md")
        return
    show_tables(table_grids(records), table_note(records), records, console, form=form, file="tables.md")
    if drawn := draw_ranks(records):
        log.print(str(drawn), markup=False, soft_wrap=True)
