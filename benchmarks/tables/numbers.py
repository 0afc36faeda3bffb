"""Numbers and tables of the tables that documents name; what is not measured yet is a dash."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path

from benchmarks.filling.registry import Number, Table
from benchmarks.records import Records
from benchmarks.tables.detectors import BASE, DETECTORS, OURS
from benchmarks.tables.jobs import CONTAMINATED
from benchmarks.tables.sets import KINDS
from benchmarks.tables.summary import OnSet, lines, read_sets
from benchmarks.tables.table import HEAD, detector_lines, difference_lines

__all__ = ["NUMBERS", "TABLES"]

MEASURES = {"auroc": "auroc", "rank": "rank", "false-alarms": "false_alarms", "errors": "errors"}
NAMED = (*OURS, BASE, "gaussian-mixture")


@cache
def _read(folder: Path, prefix: str, _changed: float) -> dict[str, dict[str, OnSet]]:
    return read_sets(Records(folder), DETECTORS, prefix=prefix)


def _by_set(results: Path, prefix: str = "") -> dict[str, dict[str, OnSet]]:
    """Read once for all numbers, and again where a file has changed."""
    folder = results / "tables"
    changed = max((path.stat().st_mtime for path in folder.glob("*.jsonl")), default=0.0)
    return _read(folder, prefix, changed)


def _number(results: Path, kind: str, detector: str, measure: str) -> float:
    found = {line.detector: line for line in lines(_by_set(results), kind)}
    value = getattr(found.get(detector), measure, None)
    return math.nan if value is None else float(value)


def _sets(results: Path, kind: str) -> float:
    by_set = _by_set(results)
    return max((sum(one.kind == kind for one in sets.values()) for sets in by_set.values()), default=math.nan)


def _table(results: Path, kind: str | None, prefix: str = "") -> str:
    return _markdown(HEAD, detector_lines(lines(_by_set(results, prefix), kind)))


def _differences(results: Path) -> str:
    return _markdown(("", *KINDS, "all"), difference_lines(_by_set(results)))


def _markdown(head: tuple[str, ...], shown: list[tuple[str, ...]]) -> str:
    shown = shown or [("not measured yet", *["–"] * (len(head) - 1))]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *shown))


NUMBERS: Mapping[str, Number] = {
    **{
        f"{kind}.{detector}.{name}": partial(_number, kind=kind, detector=detector, measure=measure)
        for kind in KINDS
        for detector in NAMED
        for name, measure in MEASURES.items()
    },
    **{f"{kind}.sets": partial(_sets, kind=kind) for kind in KINDS},
}
TABLES: Mapping[str, Table] = {
    **{kind: partial(_table, kind=kind) for kind in KINDS},
    "differences": _differences,
    "contaminated": partial(_table, kind=None, prefix=CONTAMINATED),
}
