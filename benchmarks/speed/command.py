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
    json: Annotated[bool, typer.Option("--json", help="Print the comparisons as JSON.")] = False,
) -> None:
    """Measure how fast training and scoring are, beside what one would use instead."""
    import json as json_text
    import time

    from rich.console import Console

    from benchmarks.places import RESULTS
    from benchmarks.speed.figures import draw_all
    from benchmarks.speed.parts import PARTS, find_parts
    from benchmarks.speed.records import all_records, merge, write_part
    from benchmarks.speed.sizes import find_sizes
    from benchmarks.speed.subject import images_name
    from benchmarks.speed.table import markdown, terminal
    from dissensus.destination import check_folder, write_output
    from dissensus.detector.settings import find_device
    from dissensus.report import require_matplotlib

    require_matplotlib()
    where = output or RESULTS / ("speed-quick" if quick else "speed")
    check_folder(where)
    place = find_device(device)
    log = Console(stderr=True, highlight=False)
    if not table:
        sizes = find_sizes(place.type, quick=quick)
        for name in find_parts(only or [], place.type):
            started = time.perf_counter()
            with log.status(f"measuring {name}"):
                measured = PARTS[name](sizes, place)
            took = time.perf_counter() - started
            write_part(where, name, place, measured, data=images_name(), seconds=took)
            log.print(f"{name}: {took:.0f} s")
            for note in measured.get("notes", ()):
                log.print(note, style="yellow", markup=False)
    rows, records = merge(where), all_records(where)
    write_output(where / "speed.md", markdown(rows, records).encode())
    pictures = draw_all(records, where / "figures")
    if json:
        typer.echo(json_text.dumps(rows))
        return
    console = Console(highlight=False)
    console.print(terminal(rows, records))
    for path in pictures:
        console.print(str(path), markup=False, soft_wrap=True)
