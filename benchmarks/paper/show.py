"""Prints table 1 and keeps it beside the records."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from benchmarks.paper.published import COMPARED_WITH
from benchmarks.paper.table import collect, latex, markdown, terminal, write_rows
from dissensus.destination import write_output

__all__ = ["show_table"]


def show_table(output: Path, console: Console, *, quick: bool, documents: bool = False) -> None:
    """The terminal's table; ``table1.json``, ``.md`` and ``.tex`` are written, and printed if asked for."""
    rows = collect(output, quick=quick)
    if not rows:
        console.print(f"There are no records in {output} yet: run the benchmark first.")
        return
    write_rows(output, rows)
    for table in terminal(rows, quick=quick):
        console.print(table, "")
    console.print(COMPARED_WITH, highlight=False)
    for text, name in ((markdown(rows, quick=quick), "table1.md"), (latex(rows, quick=quick), "table1.tex")):
        write_output(output / name, text.encode())
        if documents:
            console.print(text, markup=False, highlight=False, soft_wrap=True)
