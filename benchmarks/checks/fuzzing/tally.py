"""What all processes found together."""

from __future__ import annotations

from collections import Counter
from typing import Any

__all__ = ["Tally"]


class Tally:
    """The sum of what the processes found."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.findings: list[dict[str, Any]] = []
        self.slowest = self.peak = 0.0

    def add(self, part: dict[str, Any]) -> None:
        """Adds what one process found in its cases."""
        self.outcomes.update(part["outcomes"])
        self.findings += part["findings"]
        self.slowest = max(self.slowest, part["slowest_case_s"])
        self.peak = max(self.peak, part["peak_memory_above_start_MiB"])

    def add_death(self, first: int, found: str | int) -> None:
        """Adds a process that died; which of its cases did it is not known."""
        self.findings.append({"case": first, "kind": "all", "found": found})

    def rows(self) -> list[dict[str, Any]]:
        """How many cases of each kind ended in an error and in a result."""
        rows: dict[str, dict[str, Any]] = {}
        for name, count in sorted(self.outcomes.items()):
            kind, _, outcome = name.rpartition(": ")
            rows.setdefault(kind, {"kind": kind, "error": 0, "result": 0})[outcome] = count
        return list(rows.values())

    def about(self) -> dict[str, Any]:
        """All findings, and the most time and memory that a case took."""
        return {
            "findings": self.findings,
            "slowest_case_seconds": self.slowest,
            "peak_mib_above_start": self.peak,
        }
