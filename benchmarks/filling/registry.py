"""Who has which numbers and tables: one line a benchmark."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from dissensus.errors import DataError, SettingsError

__all__ = ["SOURCES", "Number", "Table", "find_number", "find_table", "names"]

Number: TypeAlias = Callable[[Path], float]
"""Gives a number from the folder of results."""
Table: TypeAlias = Callable[[Path], str]
"""Gives the lines of a table in Markdown from the folder of results."""

SOURCES: tuple[str, ...] = (
    "paper",
    "panel",
    "tables",
    "latent",
    "frontier",
    "densities",
    "speed",
    "guarantees",
    "service",
    "checks",
    "standing",
)
"""Benchmarks with a ``numbers.py`` that holds NUMBERS and TABLES; full names begin with the benchmark's."""


def find_number(name: str, results: Path) -> float:
    """The number of that name, such as ``speed.cpu.one-image.ours``."""
    return float(_told("NUMBERS", name, results))


def find_table(name: str, results: Path) -> str:
    """The table of that name, in Markdown."""
    return str(_told("TABLES", name, results))


def names(kind: str) -> Iterator[str]:
    """The names of all ``NUMBERS`` or ``TABLES``."""
    for source in SOURCES:
        yield from (f"{source}.{name}" for name in _all(source, kind))


def _all(source: str, kind: str) -> Mapping[str, Callable[[Path], Any]]:
    found: Mapping[str, Callable[[Path], Any]]
    found = getattr(importlib.import_module(f"benchmarks.{source}.numbers"), kind)
    return found


def _told(kind: str, name: str, results: Path) -> Any:
    source, _, rest = name.partition(".")
    tell = _all(source, kind).get(rest) if source in SOURCES else None
    if tell is None:
        what = kind.lower().removesuffix("s")
        raise SettingsError(f"there is no {what} {name!r}; python -m benchmarks fill --list names all")
    try:
        return tell(results)
    except (LookupError, StopIteration, ValueError, TypeError) as error:
        raise DataError(f"{name} cannot be told from the records in {results}: {error!r}") from error
