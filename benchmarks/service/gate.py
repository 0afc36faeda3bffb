"""The gate that is served: as the demonstration leaves one, asked as it comes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchmarks.guarantees.scores import fitted_detector
from dissensus.defaults import EFFORT
from dissensus.detector import Detector
from dissensus.detector.effort import at_effort

__all__ = ["HOW", "served_gate"]

HOW = f"with the defaults, on the embedded sample; effort {EFFORT}"


def served_gate(gate: Path | None, *, say: Callable[[str], None]) -> Detector:
    """The one saved in ``gate``, or one that is fitted here, asked with the default effort."""
    fitted = fitted_detector(
        gate, seed=0, on_progress=lambda stage, done, total: say(f"{stage} {done}/{total}")
    )
    return at_effort(fitted, EFFORT)
