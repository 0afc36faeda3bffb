"""The table of where we stand, for documents."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchmarks.decimals import short
from benchmarks.filling.registry import Number, Table
from benchmarks.standing.lines import standing_lines

__all__ = ["NUMBERS", "TABLES"]


def _table(results: Path) -> str:
    rows = ["| | question | ours | best simple baseline | best published |", "|---|---|---|---|---|"]
    group = ""
    for line in standing_lines(results):
        ours, baseline = short(line.ours), f"{short(line.baseline.value)} ({line.baseline.name})"
        ours = f"**{ours}**" if line.ours >= line.baseline.value else ours
        known = "–" if line.published is None else f"{short(line.published.value)} ({line.published.name})"
        rows.append(
            f"| {line.group if line.group != group else ''} | {line.title} | {ours} | {baseline} | {known} |"
        )
        group = line.group
    return "\n".join(rows) + "\n"


def _questions(results: Path) -> float:
    return float(len(list(standing_lines(results))))


def _behind(results: Path) -> float:
    return float(sum(line.ours < line.baseline.value for line in standing_lines(results)))


NUMBERS: Mapping[str, Number] = {"questions": _questions, "behind": _behind}
TABLES: Mapping[str, Table] = {"all": _table}
