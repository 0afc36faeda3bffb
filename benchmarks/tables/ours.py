"""This package's detectors as they come, or with changed settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import dissensus
from benchmarks.tables.contract import Fitted
from benchmarks.tables.sets import FloatArray
from dissensus.decisions import conformal_p_values
from dissensus.evaluation import auroc

__all__ = ["Ours"]

NOT_SETTINGS = ("device", "random_state")  # chosen by the measurement


@dataclass(frozen=True)
class Ours:
    """A detector by its name in ``dissensus``."""

    kind: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Arguments that are not as they come."""

    def settings(self) -> dict[str, Any]:
        """The class and every argument, so that another default is another measurement."""
        arguments = self._made().get_params(deep=False)
        plain = {name: _plain(value) for name, value in arguments.items() if name not in NOT_SETTINGS}
        return {"class": self.kind, **plain}

    def lacking(self) -> str | None:
        """A version of the package may not have it."""
        return None if hasattr(dissensus, self.kind) else f"dissensus.{self.kind} is left out: there is none"

    def fit(self, rows: FloatArray, /, *, seed: int, contamination: float | None = None) -> Fitted:
        """On one core, as all others."""
        gate = self._made(device="cpu", random_state=seed).fit(rows, contamination=contamination)

        def describe(normal: FloatArray, strange: FloatArray) -> Mapping[str, Any]:
            one, other = gate.statistics(normal), gate.statistics(strange)
            return {
                "statistics": {name: auroc(one[name], other[name]) for name in one},
                "restarts": len(gate.draws_.diagnostics.restarts),
            }

        return Fitted(
            lambda asked: -gate.score_samples(asked),
            partial(conformal_p_values, gate.calibration_scores_),  # what gate.p_values gives
            describe,
        )

    def _made(self, **more: Any) -> Any:
        return getattr(dissensus, self.kind)(**self.changes, **more)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)
