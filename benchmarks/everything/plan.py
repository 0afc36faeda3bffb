"""How long each part takes, from the seconds of records where there are any."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path

from benchmarks.everything.parts import Part
from benchmarks.records import Record, Records

__all__ = ["MOST_MINUTES", "measured_minutes", "plan_lines"]

MOST_MINUTES = 10.0


def plan_lines(parts: Sequence[Part], results: Path) -> list[str]:
    """Number, minutes and command of each part; ``~`` marks an estimate, ``!`` what takes too long."""
    lines, total = [], 0.0
    for number, part in enumerate(parts, 1):
        found = measured_minutes(part, results)
        minutes = part.minutes if found is None else found
        total += minutes
        mark = "!" if minutes > MOST_MINUTES else " "
        kind = "~" if found is None else " "
        lines.append(f"{number:3d} {kind}{minutes:5.1f} min{mark} python -m benchmarks {part.call}")
    return [*lines, f"    {total:6.1f} min in all; ~ is an estimate, no record says it yet"]


def measured_minutes(part: Part, results: Path) -> float | None:
    """Minutes of the part's records, None where one that it names has no record or no time."""
    if not part.records:
        return None
    total = 0.0
    for pattern in part.records.split():
        where, _, names = pattern.partition(":")
        folder, _, group = where.rpartition("/")
        records = Records(results / folder)
        every = [each for name in records.groups() if fnmatch(name, group) for each in records.read(name)]
        for name in names.split(","):
            found = [each.seconds for each in every if _is(each, name)]
            if not found or not all(found):
                return None
            total += sum(seconds.get("all", sum(seconds.values())) for seconds in found)
    return total / 60


def _is(record: Record, pattern: str) -> bool:
    name, at, seed = pattern.partition("@")
    return fnmatch(record.name, name) and (not at or str(record.seed) == seed)
