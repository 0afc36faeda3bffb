"""The tables of all comparisons and of the fast paths' accuracy, from records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table

from benchmarks.records import Record

__all__ = ["comparisons", "markdown", "terminal"]

HEADS = ("what", "ours", "other", "unit", "times better", "compared with", "hardware")
ACCURACY = "Largest |Δ log p| from float64, nats"


def comparisons(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Every comparison, with the part it is from and the hardware it was made on."""
    return [
        {"part": record.name, "hardware": record.settings["hardware"], **row}
        for record in records
        for row in record.rows
    ]


def terminal(records: Sequence[Record]) -> Group:
    """For rich, narrow enough for 80 columns: tables for each hardware."""
    rows = comparisons(records)
    tables: list[RenderableType] = []
    for hardware in dict.fromkeys(row["hardware"] for row in rows):
        table = Table(title=f"Speed, {hardware}", title_justify="left", box=box.SIMPLE_HEAD, show_edge=False)
        table.add_column("what, and beside what")
        for head in ("ours", "other", "times"):
            table.add_column(head, justify="right", no_wrap=True)
        for row in rows:
            if row["hardware"] == hardware:
                name, ours, other, unit, ratio, beside, _ = _cells(row)
                style = None if row["ratio"] >= 1 else "yellow"
                table.add_row(
                    f"{name}\n  [dim]{escape(beside)}[/dim]", f"{ours}\n{unit}", other, ratio, style=style
                )
        tables += [table, ""]
    for heads, lines in _accuracy(records):
        table = Table(
            title=f"{ACCURACY}, {heads[0]}", title_justify="left", box=box.SIMPLE_HEAD, show_edge=False
        )
        table.add_column("")
        for head in heads[1:]:
            table.add_column(head, justify="right")
        for line in lines:
            table.add_row(*line)
        tables += [table, ""]
    return Group(*tables)


def markdown(records: Sequence[Record]) -> str:
    """The same for a document."""
    parts = _markdown(HEADS, [_cells(row) for row in comparisons(records)])
    for heads, lines in _accuracy(records):
        parts += ["", f"{ACCURACY}, {heads[0]}:", "", *_markdown(("", *heads[1:]), lines)]
    return "\n".join(parts) + "\n"


def _markdown(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(line)} |" for line in (heads, ["---"] * len(heads), *lines)]


def _accuracy(records: Sequence[Record]) -> Iterator[tuple[list[str], list[list[str]]]]:
    """For each hardware its name and the ways to score, and a line for each observation model."""
    for record in records:
        found = {(one["observation"], one["path"]): one for one in record.about.get("differences", ())}
        paths = list(dict.fromkeys(path for _, path in found))
        models = dict.fromkeys(model for model, _ in found)
        if found:
            lines = [[m, *(f"{found[m, p]['largest_difference']:.1g}" for p in paths)] for m in models]
            yield [record.settings["hardware"], *paths], lines


def _cells(row: Mapping[str, Any]) -> list[str]:
    numbers = [_number(row["ours"]), _number(row["other"])]
    return [row["name"], *numbers, row["unit"], f"{row['ratio']:.2f}", row["other_name"], row["hardware"]]


def _number(value: float) -> str:
    """Three digits that count.

    >>> _number(0.012345), _number(123456.0)
    ('0.0123', '123,000')
    """
    return f"{float(f'{value:.3g}'):,.0f}" if abs(value) >= 100 else f"{value:.3g}"
