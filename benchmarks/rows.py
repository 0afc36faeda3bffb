"""Parts of a measurement that are told apart by name, as rows of a record, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.records import Record

__all__ = ["by_part", "in_rows"]

Parts = Mapping[str, Mapping[str, Any]]


def in_rows(parts: Parts) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """Return a row of plain values for each part, and what is no plain value (lists, tables) by part.

    >>> in_rows({"memory": {"kept": True, "samples": [1, 2]}})
    ([{'part': 'memory', 'kept': True}], {'memory': {'samples': [1, 2]}})
    """
    rows, about = [], {}
    for name, part in parts.items():
        rows.append({"part": name, **{key: value for key, value in part.items() if _plain(value)}})
        rest = {key: value for key, value in part.items() if not _plain(value)}
        if rest:
            about[name] = rest
    return rows, about


def by_part(record: Record) -> dict[str, dict[str, Any]]:
    """Return the parts of a record that :func:`in_rows` made; what a part lacks is None.

    >>> rows, about = in_rows({"memory": {"kept": True, "samples": [1, 2]}})
    >>> by_part(Record("all", None, {}, rows, {}, about))
    {'memory': {'kept': True, 'samples': [1, 2]}}
    """
    found = {}
    for row in record.rows:
        values = dict(row)
        name = values.pop("part")
        found[name] = values | dict(record.about.get(name, {}))
    return found


def _plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str)
