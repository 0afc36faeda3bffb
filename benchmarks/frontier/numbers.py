"""Numbers and the table of the frontier that documents name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from benchmarks.filling.registry import Number, Table
from benchmarks.frontier.command import GROUP
from benchmarks.frontier.summary import Summary, summaries
from benchmarks.frontier.table import markdown
from benchmarks.records import Records

__all__ = ["NUMBERS", "TABLES"]

_POINTS = {"standard": "8 draws, one look", "fast": "4 draws, one look", "thorough": "all draws, K = 16"}


def _found(results: Path) -> list[Summary]:
    return summaries(Records(results / "frontier").read(f"{GROUP}-cpu"))


def _of(point: str, field: str, results: Path) -> float:
    return float(next(getattr(each, field) for each in _found(results) if each.name == _POINTS[point]))


NUMBERS: Mapping[str, Number] = {
    f"{point}.{field}": partial(_of, point, field)
    for point in _POINTS
    for field in ("mean", "worst", "loss", "decodings", "one", "batch")
}
TABLES: Mapping[str, Table] = {"all": lambda results: markdown(_found(results))}
