"""Numbers and the table of the frontier that documents name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from benchmarks.filling.registry import Number, Table
from benchmarks.frontier.command import GROUP
from benchmarks.frontier.points import CALLED
from benchmarks.frontier.summary import Summary, summaries
from benchmarks.frontier.table import markdown
from benchmarks.records import Records

__all__ = ["NUMBERS", "TABLES"]


def _found(results: Path) -> list[Summary]:
    return summaries(Records(results / "frontier").read(f"{GROUP}-cpu"))


def _at(name: str, field: str, results: Path) -> float:
    return float(next(getattr(each, field) for each in _found(results) if each.name == name))


def _lost(name: str, results: Path) -> float:
    """By how much the mean is below that of the standard effort."""
    return _at(CALLED["standard"], "mean", results) - _at(name, "mean", results)


NUMBERS: Mapping[str, Number] = {
    f"{point}.{field}": partial(_at, CALLED[point], field)
    for point in CALLED
    for field in ("mean", "worst", "loss", "decodings", "one", "batch")
} | {
    "png.mean": partial(_at, "8 draws, one look, PNG", "mean"),
    "neighbours.loss": partial(_lost, "8 draws, one look, no neighbours"),
    "code.loss": partial(_lost, "8 draws, one look, no code"),
}
TABLES: Mapping[str, Table] = {"all": lambda results: markdown(_found(results))}
