"""The table of all comparisons, for the terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

__all__ = ["markdown", "terminal"]

HEADS = ("what", "ours", "other", "unit", "times better", "compared with", "hardware")


def terminal(rows: Sequence[Mapping[str, Any]]) -> Table:
    """For rich."""
    table = Table(title="Speed")
    for head in HEADS:
        table.add_column(head, justify="right" if head in ("ours", "other", "times better") else "left")
    for row in rows:
        table.add_row(*_cells(row), style=None if row["ratio"] >= 1 else "yellow")
    return table


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
