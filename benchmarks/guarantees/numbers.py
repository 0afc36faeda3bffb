"""Numbers of the guarantees that documents name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks.filling.registry import Number, Table
from benchmarks.guarantees.command import GROUP
from benchmarks.records import Record, Records

__all__ = ["NUMBERS", "TABLES"]


def _record(results: Path) -> Record:
    return Records(results / "guarantees").read(GROUP)[0]


NUMBERS: Mapping[str, Number] = {
    "splits": lambda results: _record(results).settings["splits"],
    "kept": lambda results: sum(row["kept"] for row in _record(results).rows),
}
TABLES: Mapping[str, Table] = {}
