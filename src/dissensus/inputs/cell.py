"""One cell of a table's row, in the words of the table: a category is its name, not columns of 0 and 1."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dissensus.inputs.table_encoder import TableEncoder

__all__ = ["Cell", "cells_of"]


class Cell(NamedTuple):
    """What a column of a table holds in one row, and how much of a disagreement it causes."""

    column: str
    value: str
    """As a person would write it, such as "3750", "Biscoe" or "missing"."""
    nats: float
    """Of the columns of numbers that it becomes, the one that causes most."""
    expected: str
    """What the draws see instead."""
    nearest: str
    """What it is in the nearest training rows."""


def cells_of(
    table: TableEncoder,
    row: NDArray[np.float64],
    nats: NDArray[np.float64],
    expected: NDArray[np.float64],
    nearest: NDArray[np.float64],
    notes: Sequence[str],
) -> tuple[Cell, ...]:
    """Return the cells of an encoded row (D,), that which causes most disagreement (D,) first.

    ``expected`` (R, D) is the row as draws see it, ``nearest`` (k, D) are training rows, and ``notes`` say
    what no training row had, such as "country: Mars, never seen".
    """
    found = [
        Cell(
            column.name,
            _noted(column.name, notes) or column.shown(row[place]),
            float(nats[place].max()),
            column.span(expected[:, place]),
            column.span(nearest[:, place]),
        )
        for column, place in table.parts
    ]
    return tuple(sorted(found, key=lambda cell: -cell.nats))


def _noted(column: str, notes: Iterable[str]) -> str | None:
    return next((n.removeprefix(f"{column}: ") for n in notes if n.startswith(f"{column}: ")), None)
