"""What all processes found together, as it is written down."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from fuzzing.limits import MEMORY, SECONDS

__all__ = ["Tally", "write"]


class Tally:
    """The sum of what the processes found; its clock starts when it is made."""

    def __init__(self) -> None:
        self.start = time.perf_counter()
        self.outcomes: Counter[str] = Counter()
        self.findings: list[Any] = []
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

    def record(self, first: int, cases: int) -> dict[str, Any]:
        """All of it, with the limits and the environment that it holds for."""
        from dissensus.evaluation.provenance import environment

        return {
            "cases": cases,
            "first": first,
            "outcomes": dict(sorted(self.outcomes.items())),
            "findings": self.findings,
            "slowest_case_s": round(self.slowest, 2),
            "limit_s": SECONDS,
            "peak_memory_above_start_MiB": round(self.peak),
            "memory_limit_above_start_MiB": MEMORY >> 20,
            "seconds": round(time.perf_counter() - self.start),
            "environment": environment(),
        }


def write(record: dict[str, Any], output: Path | None) -> None:
    """Writes a record to a file, or to standard output if there is none."""
    text = json.dumps(record, indent=1)
    if output is None:
        sys.stdout.write(text + "\n")
    else:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text + "\n", "utf-8")
