"""What the detector and the command line both do unless told otherwise."""

from __future__ import annotations

__all__ = ["STATISTIC"]

STATISTIC = "fused"
"""``"fused"``, or a name from ``dissensus.scores.SCORES``."""
