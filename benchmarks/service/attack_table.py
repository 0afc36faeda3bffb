"""The records of attacks as a table: what honest clients saw, before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.records import Records
from benchmarks.service.attack_command import AFTER, ALL, BEFORE, NONE
from benchmarks.service.attacks import ATTACKS
from benchmarks.service.defence import goals, missed

__all__ = ["attack_table"]

_SHOWN = {
    "p50_seconds": ("one picture: median", 2),
    "p99_seconds": ("99%", 2),
    "times_alone": ("median × alone", 1),
    "liveness_seconds": ("liveness, slowest", 2),
    "memory_mib": ("MiB", 0),
    "log_mib": ("MiB of log", 1),
    "stop_seconds": ("SIGTERM", 0),
    "failed_probes": ("probes not 200", 0),
    "requests": ("requests", 0),
    "refused": ("4xx", 0),
    "failures": ("5xx or none", 0),
}


def attack_table(folder: Path) -> str:
    """In Markdown: a row an attack, each cell as ``before → after``; what misses its goal is marked."""
    before, after = (
        {record.name: dict(record.rows[0]) for record in Records(folder).read(group)}
        for group in (BEFORE, AFTER)
    )
    sentences = {name: attack.sentence for name, attack in ATTACKS.items()}
    titles = {NONE: "no attack", **sentences, ALL: "all of these"}
    head = ["", *(title for title, _ in _SHOWN.values())]
    lines = [" | ".join(("", *head, "")).strip(), "|" + "---|" * len(head)]
    for name, title in titles.items():
        if name in before or name in after:
            cells = [
                _cell([name], before.get(name), after.get(name), column, digits)
                for column, (_, digits) in _SHOWN.items()
            ]
            lines.append("| " + " | ".join((title, *cells)) + " |")
    return "\n".join(lines)


def _cell(
    names: Sequence[str],
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
    column: str,
    digits: int,
) -> str:
    texts = [_number(row, column, digits) for row in (before, after) if row is not None]
    if after is not None and column in missed(names, after):
        texts[-1] = f"**{texts[-1]}** (goal {goals(names)[column]:g})"
    return " → ".join(texts)


def _number(row: Mapping[str, Any], column: str, digits: int) -> str:
    value = row.get(column)
    return "–" if value is None else f"{value:.{digits}f}"
