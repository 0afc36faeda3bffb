"""What the detector and the command line both do unless told otherwise."""

from __future__ import annotations

__all__ = ["EFFORT", "FAST", "STANDARD", "STATISTIC", "THOROUGH"]

STATISTIC = "fused"
"""A name from ``dissensus.scores.SCORES``."""

FAST, STANDARD, THOROUGH = "fast", "standard", "thorough"
"""How much is spent on an input."""

EFFORT = STANDARD
