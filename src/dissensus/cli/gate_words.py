"""What commands say of a gate, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["what_is_flagged", "what_was_confirmed", "what_was_left_out"]


def what_is_flagged(facts: Mapping[str, Any]) -> str:
    """In words, of a gate's statistic and threshold."""
    return "nothing" if facts["threshold"] is None else f"{facts['statistic']} above {facts['threshold']:.4g}"


def what_was_confirmed(facts: Mapping[str, Any]) -> list[str]:
    """In words, what people have said of inputs since the fit; nothing where they have not."""
    if (found := facts["confirmed"]) is None:
        return []
    return [
        f"remembers {found['normal']} inputs that were confirmed as normal and {found['outliers']} as "
        f"outliers; {found['joined']} confirmed ones are calibration inputs"
    ]


def what_was_left_out(facts: Mapping[str, Any]) -> list[str]:
    """In words, of a gate's contamination; nothing where every input was taken for normal."""
    if (found := facts["left_out"]) is None:
        return []
    return [
        f"left out the most unusual {found['train']} training and {found['validation']} validation inputs, "
        f"at a contamination of {found['contamination']:g}; no calibration inputs"
    ]
