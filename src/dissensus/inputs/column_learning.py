"""From the cells of a training column to the rule for it, or to why the column cannot be learnt from."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from shlex import quote
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dissensus.inputs.as_people_write import looks_like_date, looks_like_number
from dissensus.inputs.cells import (
    all_numbers,
    category_of,
    date_of,
    date_parts,
    is_numeric,
    numbers_of,
    present_rows,
)
from dissensus.inputs.columns import CategoryColumn, Column, DateColumn, NumberColumn

__all__ = ["Trouble", "described", "learn"]

MOST_CATEGORIES = 50
RARE, LEAST_SEEN = 0.01, 2  # a name in a smaller share of the rows, or in fewer rows, is rare
MOSTLY, VARIED = 0.9, 10  # of a column that is numbers or dates but for some cells: their share, and variety
SHOWN = 3  # offending cells named in a message


class Trouble(NamedTuple):
    """Why a column cannot be an input."""

    name: str
    what: str
    """As in "is empty in every row"."""
    remedy: str
    """What to do about one or several such columns: {it} stands for them, {drop} and {id} for options."""


LEAVE_OUT = "leave {it} out ({drop})"
REPAIR = f"repair these cells, or {LEAVE_OUT}"
NAMES = f"{LEAVE_OUT}, let it name the rows ({{id}}), or write groups of values instead"
NUMBERS = f"write them as in 3750.5, or {LEAVE_OUT}"
DATES = f"write them as year-month-day, as in 2023-09-28, or {LEAVE_OUT}"


def learn(name: str, values: Sequence[Any] | NDArray[Any]) -> Column | Trouble:
    """Return the rule for a column with these training values, or why it cannot be an input."""
    present = present_rows(values)
    if not present:
        return Trouble(name, "is empty in every row", LEAVE_OUT)
    may_miss = len(present) < len(values)
    if all_numbers(values, present):
        numbers = numbers_of(values)
        infinite = [row for row in present if not math.isfinite(numbers[row])]
        if infinite:
            return Trouble(name, f"is infinite in {_cells(values, infinite)}", REPAIR)
        return NumberColumn(name, float(np.median(numbers[present])), may_miss)
    dates = {row: moment for row in present if (moment := date_of(values[row])) is not None}
    if len(dates) == len(present):
        medians = np.median([date_parts(moment) for moment in dates.values()], axis=0)
        return DateColumn(name, tuple(float(median) for median in medians), may_miss)
    return _as_people_write(name, values, present, set(dates)) or _categories(name, values)


def _as_people_write(
    name: str, values: Sequence[Any] | NDArray[Any], present: Sequence[int], dates: set[int]
) -> Trouble | None:
    """Why it is no column of names, if it is one of numbers or dates that not all can be read."""

    def mostly(rows: set[int]) -> bool:
        return len(rows) >= MOSTLY * len(present) and len({str(values[row]) for row in rows}) > VARIED

    numbers = {row for row in present if is_numeric(values[row])}
    for kind, fitting in (("numbers", numbers), ("dates", dates)):
        if mostly(fitting):
            others = [row for row in present if row not in fitting]
            return Trouble(name, f"holds {kind} but for {_cells(values, others)}", REPAIR)
    for what, fitting, looks, remedy in (
        ("dates such as", dates, looks_like_date, DATES),
        ("numbers as people write them, such as", numbers, looks_like_number, NUMBERS),
    ):
        found = {row for row in present if row in fitting or looks(values[row])}
        if mostly(found):
            shown = next(values[row] for row in present if row in found and row not in fitting)
            return Trouble(name, f"holds {what} {str(shown).strip()[:40]!r}", remedy)
    return None


def _categories(name: str, values: Sequence[Any] | NDArray[Any]) -> Column | Trouble:
    counts = Counter(category_of(value) for value in values)
    least = max(LEAST_SEEN, RARE * len(values))
    by_count = sorted(counts, key=lambda category: (-counts[category], category))
    common = [category for category in by_count[:MOST_CATEGORIES] if counts[category] >= least]
    rare = sorted(set(counts) - set(common))
    in_rare = sum(counts[category] for category in rare)
    none_twice = len(counts) == len(values) > VARIED
    if (len(counts) > MOST_CATEGORIES or none_twice) and in_rare > len(values) / 2:
        shown = f"{len(counts)} different texts such as {rare[-1][:40]!r}"
        return Trouble(name, f"holds {shown}, most of them seldom", NAMES)
    if len(rare) == 1:  # nobody to share a column with
        common, rare = [*common, *rare], []
    return CategoryColumn(name, tuple(sorted(common)), tuple(rare))


def described(troubles: Sequence[Trouble]) -> str:
    """What is wrong with columns, and for each kind of trouble what to do, said once."""
    told = []
    for remedy in dict.fromkeys(trouble.remedy for trouble in troubles):
        those = [trouble for trouble in troubles if trouble.remedy == remedy]
        what = ", ".join(f"column {trouble.name!r} {trouble.what}" for trouble in those)
        drop = " ".join(f"--drop {quote(trouble.name)}" for trouble in those)
        it, name = "it" if len(those) == 1 else "them", quote(those[0].name)
        how = remedy.format(it=it, drop=drop, id=f"--id {name}")
        told.append(f"{what}: {how}")
    return "; ".join(told)


def _cells(values: Sequence[Any] | NDArray[Any], rows: Sequence[int]) -> str:
    """The first cells of those rows: ``row 17: '1,499'``."""
    shown = ", ".join(f"row {row}: {str(values[row])[:40]!r}" for row in islice(rows, SHOWN))
    return shown + (f" and {len(rows) - SHOWN} more" if len(rows) > SHOWN else "")
