"""What the detector and the command line both do unless told otherwise."""

from __future__ import annotations

__all__ = ["STATISTIC"]

STATISTIC = "fused"
"""A name from ``dissensus.scores.SCORES``."""
