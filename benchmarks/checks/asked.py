"""What a check may be asked for."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Asked"]


@dataclass(frozen=True)
class Asked:
    """Options of ``python -m benchmarks checks``; a check reads those that mean something to it."""

    seeds: tuple[int, ...] = (0, 1, 2)
    quick: bool = False
    """A little of everything, to try a check out."""
