"""This package's detectors as they come, or with changed settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch

import dissensus
from benchmarks.tables.contract import Fitted
from benchmarks.tables.sets import FloatArray
from dissensus.decisions import conformal_p_values
from dissensus.detector.measuring import measure
from dissensus.detector.sampling import expected_sampler
from dissensus.evaluation import auroc
from dissensus.models import AUTO
from dissensus.models.registry import FOR_ROWS
from dissensus.scores import SUM, Fused

__all__ = ["Ours"]

NOT_SETTINGS = ("device", "random_state")  # chosen by the measurement


@dataclass(frozen=True)
class Ours:
    """A detector by its name in ``dissensus``."""

    kind: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Arguments that are not as they come."""

    def settings(self) -> dict[str, Any]:
        """The class and every argument as it is used, so that another default is another measurement."""
        made = self._made()
        arguments = made.get_params(deep=False) | vars(expected_sampler(made, rows=True))
        if arguments.get("model") == AUTO:
            arguments["model"] = FOR_ROWS
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
                "without": _without(gate, normal, strange),
                "restarts": len(gate.draws_.diagnostics.restarts),
            }

        return Fitted(
            lambda asked: -gate.score_samples(asked),
            partial(conformal_p_values, gate.calibration_scores_),  # what gate.p_values gives
            describe,
        )

    def _made(self, **more: Any) -> Any:
        return getattr(dissensus, self.kind)(**self.changes, **more)


def _without(gate: Any, normal: FloatArray, strange: FloatArray) -> dict[str, float]:
    """AUROC of the score if one of the statistics that it adds up were left out, by its name."""
    score, found = gate.learnt_.score, []
    if not isinstance(score, Fused) or score.fusion.depth != SUM:
        return {}
    for rows in (normal, strange):
        read = gate.preprocessor_.read(rows).array
        measured = measure(gate.learnt_, read, score.requires, device=torch.device("cpu"))
        found.append(score.surprises(measured))
    return {
        left_out: auroc(*(sum(own[name] for name in own if name != left_out) for own in found))
        for left_out in found[0]
    }


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)
