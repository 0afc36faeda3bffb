"""One line of the table: what we take, what another takes, and how many times better that is."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Comparison", "faster", "more"]


@dataclass(frozen=True)
class Comparison:
    """Two numbers of the same thing, measured in the same run unless the other one is a goal."""

    name: str
    ours: float
    other: float
    other_name: str
    unit: str
    ratio: float
    """Above 1: ours is better."""

    def to_dict(self) -> dict[str, Any]:
        """JSON values."""
        return asdict(self)


def faster(name: str, ours: float, other: float, other_name: str, unit: str = "s") -> Comparison:
    """Less is better.

    >>> faster("a step", 0.5, 2.0, "another").ratio
    4.0
    """
    return Comparison(name, ours, other, other_name, unit, other / ours)


def more(name: str, ours: float, other: float, other_name: str, unit: str) -> Comparison:
    """More is better.

    >>> more("decodings", 30.0, 10.0, "another", "1/s").ratio
    3.0
    """
    return Comparison(name, ours, other, other_name, unit, ours / other)
