"""Whether an object of named columns has the columns that a gate was fitted on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from dissensus.errors import DataError

__all__ = ["check_keys", "listed"]

LISTED = 5  # names in a message


def check_keys(
    record: Mapping[str, Any],
    columns: Sequence[str],
    *,
    ignored: Collection[str] = (),
    absent_as_missing: bool = False,
) -> None:
    """Refuses an object that lacks columns, and names its keys that may be these, misspelt.

    With ``absent_as_missing`` columns may be absent, as long as one is there and no key looks like a misspelt
    one. Keys besides the columns mean nothing, as further columns of a file do; ``ignored`` are never named.

    >>> check_keys({"age": 3, "wieght": 9}, ("age", "weight"))
    Traceback (most recent call last):
        ...
    dissensus.errors.DataError: the object lacks the column 'weight', and has 'wieght', which is no column
    """
    absent = [name for name in columns if name not in record]
    if not absent:
        return
    if len(absent) == len(columns):
        raise DataError(f"the object has none of the columns {listed(columns)}")
    others = [key for key in record if key not in columns and key not in ignored]
    alike = [key for key in others if get_close_matches(key, absent, 1, 0.75)]
    if absent_as_missing and not alike:
        return
    told = f", and has {listed(alike or others)}, which {_is(alike or others)}" if others else ""
    raise DataError(f"the object lacks the column{'s' * (len(absent) > 1)} {listed(absent)}{told}")


def _is(names: Sequence[str]) -> str:
    return "is no column" if len(names) == 1 else "are no columns"


def listed(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(repr(name[:40]) for name in names[:LISTED]) + more
