"""Detectors of PyOD as they come, where it is installed."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.tables.contract import Fitted
from benchmarks.tables.sets import FloatArray
from dissensus.seeding import stream_seed

__all__ = ["PyOD"]


@dataclass(frozen=True)
class PyOD:
    """One of PyOD's detectors, by its module and class."""

    module: str
    kind: str
    seeded: bool = False
    """Whether it is a network, which takes a seed."""

    def settings(self) -> dict[str, Any]:
        """The class and PyOD's version, whose defaults are used."""
        return {"kind": f"pyod.{self.kind}", "version": importlib.metadata.version("pyod")}

    def lacking(self) -> str | None:
        """PyOD is not a dependency."""
        if importlib.util.find_spec("pyod") is not None:
            return None
        return f"PyOD's {self.kind} is left out, for PyOD is not installed: pip install pyod tqdm"

    def fit(self, rows: FloatArray, /, *, seed: int, contamination: float | None = None) -> Fitted:  # noqa: ARG002
        """As PyOD's users do it; a contamination would set its threshold and no score."""
        made = getattr(importlib.import_module(f"pyod.models.{self.module}"), self.kind)
        seeding = {
            "random_state": stream_seed(seed, "tables", self.kind) >> 32,
            "device": "cpu",
            "verbose": 0,
        }
        found = made(**(seeding if self.seeded else {})).fit(rows)
        return Fitted(lambda asked: np.asarray(found.decision_function(asked), dtype=np.float64))
