r"""Columns that say which row it is, not what it is: row numbers, an index, ids, times of recording.

Whoever learns from a row number flags later rows for being later. Measured numbers repeat: of n whole numbers
drawn from a range of R, none comes twice with a probability of at most about :math:`\exp(-n^2 / 2R)` (the
birthday problem; any other law than the uniform one makes repetitions likelier). Where that is less than one
in a million, n different ones were counted out: the column numbers the rows, in whatever order.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from shlex import quote
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import InputWarning
from dissensus.inputs.cells import all_numbers, date_of, numbers_of, present_rows
from dissensus.inputs.tables import UNNAMED, Table

__all__ = ["Identifiers", "identifiers_in", "warn_of_identifiers"]

LEAST_IN_ORDER = 10  # rows that are numbered one by one, in order
LEAST_ROWS = 20  # of which others are judged
MOSTLY = 0.9  # of the steps from row to row are to the next number, where rows or runs of them are missing
SURE = 2 * np.log(1e6)
CALLED_SO = re.compile(r"(?i:(^|[\W_])(id|ids|key|uuid|guid|idx|index|rowid|row|nr|number)$)|[a-z]I[dD]$")


@dataclass(frozen=True)
class Identifiers:
    """What of a table says which row it is."""

    numbering: tuple[str, ...]
    """Columns that certainly number the rows: nothing is learnt from them."""
    suspected: tuple[tuple[str, str], ...]
    """Columns that may be ids, each with the reason."""
    recorded: tuple[str, ...]
    """Columns of dates that rise or fall from row to row, as times of recording do."""
    index: str | None
    """The unnamed column that names the rows, if there is one."""

    def left_out_of(self, table: Table) -> Table:
        """Return the table without the columns that number its rows."""
        kept = {name: values for name, values in table.columns.items() if name not in self.numbering}
        return replace(table, columns=kept)


def identifiers_in(table: Table) -> Identifiers:
    """Find the columns of a training table that say which row it is."""
    numbering, suspected, recorded = [], [], []
    for name, values in table.columns.items():
        numbers = _whole_and_different(values)
        if numbers is None:
            if _dates_in_order(values):
                recorded.append(name)
            continue
        rising = bool((np.diff(numbers) > 0).all())
        if _counted_out(numbers):
            numbering.append(name)
        elif len(numbers) >= LEAST_ROWS and rising:
            suspected.append((name, "in rising order, so that new rows would lie beyond them"))
        elif len(numbers) >= LEAST_ROWS and CALLED_SO.search(name):
            suspected.append((name, "in a column that is called so"))
    index = UNNAMED if table.id_column == UNNAMED else None
    return Identifiers(tuple(numbering), tuple(suspected), tuple(recorded), index)


def warn_of_identifiers(found: Identifiers, rows: int, *, stacklevel: int) -> None:
    """Warns of each such column of a table of so many rows, with what was done and what can be."""
    said = []
    if found.index is not None:
        said.append(
            "the first column has no name, as an index has that was saved with its table: it names the rows, "
            "and nothing is learnt from it"
        )
    said += [
        f"column {name!r} numbers the rows ({rows} of them, no two alike): it is left out, for it says where "
        f"a row stands and not what it is; to see it in results, let it name the rows (--id {quote(name)})"
        for name in found.numbering
    ]
    said += [
        f"column {name!r} may be an id: it holds whole numbers, no two alike, {why}; if it is one, leave it "
        f"out (--drop {quote(name)}) or let it name the rows (--id {quote(name)})"
        for name, why in found.suspected
    ]
    said += [
        f"column {name!r} holds dates in the order of the rows, as a time of recording does: rows of months "
        "that training did not have will be flagged for that alone; unless this is wanted, leave it out "
        f"(--drop {quote(name)}) or let it name the rows (--id {quote(name)})"
        for name in found.recorded
    ]
    for sentence in said:
        warnings.warn(sentence, InputWarning, stacklevel=stacklevel)


def _whole_and_different(values: Sequence[Any] | NDArray[Any]) -> NDArray[np.float64] | None:
    """The numbers of a column that holds whole ones, no two of them alike; None if it does not."""
    first = values[: LEAST_ROWS * 2]
    if not all_numbers(first, present_rows(first)):
        return None  # before all of a long column is looked at
    present = present_rows(values)
    if len(present) < max(LEAST_IN_ORDER, 0.9 * len(values)) or not all_numbers(values, present):
        return None
    numbers = numbers_of(values)[present]
    if not np.isfinite(numbers).all() or (numbers != np.rint(numbers)).any():
        return None
    return numbers if len(np.unique(numbers)) == len(numbers) else None


def _dates_in_order(values: Sequence[Any] | NDArray[Any]) -> bool:
    """Whether a column holds dates that never fall, or never rise, from row to row."""
    first = values[: LEAST_ROWS * 2]
    if len(values) < LEAST_ROWS or (isinstance(values, np.ndarray) and values.dtype.kind in "fiu"):
        return False
    if not _in_order(first) or not (len(first) == len(values) or _in_order(values)):
        return False
    return len({str(values[row]) for row in present_rows(values)}) > 1  # one and the same says no order


def _in_order(values: Sequence[Any] | NDArray[Any]) -> bool:
    moments = []
    for row in present_rows(values):
        moment = date_of(values[row])
        if moment is None:
            return False
        moments.append(moment.replace(tzinfo=None))  # as the clock showed it
    steps = list(pairwise(moments))
    return len(moments) >= 0.9 * len(values) and (
        all(a <= b for a, b in steps) or all(a >= b for a, b in steps)
    )


def _counted_out(numbers: NDArray[np.float64]) -> bool:
    if (np.diff(numbers) == 1).mean() >= MOSTLY:
        return True
    span = float(numbers.max() - numbers.min()) + 1
    return len(numbers) >= LEAST_ROWS and len(numbers) ** 2 > SURE * span
