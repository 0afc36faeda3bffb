"""What a check may be asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.places import ROOT

__all__ = ["Asked"]


@dataclass(frozen=True)
class Asked:
    """Options of ``python -m benchmarks checks``; a check reads those that mean something to it."""

    seeds: tuple[int, ...] = (0, 1, 2)
    workers: int = 1
    """Processes at once, where a check has many fits to make."""
    tables: Path = ROOT / "data" / "tables"
    """Where tables are, as ``NAME.npz`` with rows X and labels y."""
    quick: bool = False
    """A little of everything, to try a check out."""
