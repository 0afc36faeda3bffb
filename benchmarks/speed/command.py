"""The command ``python -m benchmarks speed``: arguments in, calls out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["speed"]


def speed(
    device: Annotated[str, typer.Option(help="auto, cpu or cuda; the records of both are kept.")] = "auto",
    only: Annotated[
        list[str] | None, typer.Option(help="A part of the benchmark; may be repeated. Default: all.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A little of everything, kept apart.")] = False,
    output: Annotated[
        Path | None, typer.Option(help="Where records go. Default: results/speed, or results/speed-quick.")
    ] = None,
    table: Annotated[
        bool, typer.Option("--table", help="Measure nothing: the table and the figures from the records.")
    ] = False,
    again: Annotated[bool, typer.Option("--again", help="Measure even what has a record already.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the comparisons as JSON.")] = False,
) -> None:
    """Measure how fast training and scoring are, beside what one would use instead."""
    import json as json_text

    from rich.console import Console

    from benchmarks.pieces import measure_missing
    from benchmarks.places import RESULTS
    from benchmarks.records import Records
    from benchmarks.speed.figures import draw_all
    from benchmarks.speed.parts import find_parts
    from benchmarks.speed.records import pieces
    from benchmarks.speed.sizes import find_sizes
    from benchmarks.speed.subject import images_name
    from benchmarks.speed.table import comparisons, terminal
    from dissensus.destination import check_folder
    from dissensus.detector.settings import find_device
    from dissensus.report import require_matplotlib

    require_matplotlib()
    where = output or RESULTS / ("speed-quick" if quick else "speed")
    check_folder(where)
    records = Records(where, quick=quick)
    if not table:
        place = find_device(device)
        names = find_parts(only or [], place.type)
        sizes = find_sizes(place.type, quick=quick)
        log = Console(stderr=True, highlight=False)
        measure_missing(records, pieces(names, sizes, place, data=images_name()), log, again=again)
    found = list(records.all())
    if json:
        typer.echo(json_text.dumps(comparisons([record for _, record in found])))
        return
    console = Console(highlight=False)
    console.print(terminal([record for _, record in found]))
    for path in draw_all(found, where / "figures"):
        console.print(str(path), markup=False, soft_wrap=True)
