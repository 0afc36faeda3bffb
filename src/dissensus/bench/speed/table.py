"""The table of all comparisons, for the terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table

__all__ = ["markdown", "terminal"]

HEADS = ("what", "ours", "other", "unit", "times better", "compared with", "hardware")


def terminal(rows: Sequence[Mapping[str, Any]]) -> Group:
    """For rich, narrow enough for 80 columns: a table for each hardware."""
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
    return Group(*tables)


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """The same for a document."""
    lines = ["| " + " | ".join(HEADS) + " |", "|" + "---|" * len(HEADS)]
    lines += ["| " + " | ".join(_cells(row)) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _cells(row: Mapping[str, Any]) -> list[str]:
    numbers = [_number(row["ours"]), _number(row["other"])]
    return [row["name"], *numbers, row["unit"], f"{row['ratio']:.2f}", row["other_name"], row["hardware"]]


def _number(value: float) -> str:
    """Three digits that count.

    >>> _number(0.012345), _number(123456.0)
    ('0.0123', '123,000')
    """
    return f"{float(f'{value:.3g}'):,.0f}" if abs(value) >= 100 else f"{value:.3g}"
