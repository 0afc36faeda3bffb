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
from dissensus.decisions import conformal_p_values, rounded
from dissensus.detector.measuring import measure
from dissensus.detector.parts import part_fractions
from dissensus.detector.sampling import expected_sampler
from dissensus.evaluation import auroc
from dissensus.inputs import SURROUNDINGS, split
from dissensus.models import AUTO
from dissensus.models.registry import FOR_ROWS
from dissensus.scores import MATRIX, SUM, Fused

__all__ = ["Ours"]

# Device and seed are chosen by the measurement, and rows have no `effort` but the whole (`efforts_for`).
NOT_SETTINGS = ("device", "random_state", "effort")
LIKELIHOOD = "mean-ll"


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
        if arguments["statistic"] == Fused.name:
            plain["fused"] = {"rows": list(Fused.SURROUNDED), "wide": list(Fused.SURROUNDED_WIDE)}
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
                "sums": {} if contamination else _sums(gate, rows, normal, strange, seed),
                "restarts": len(gate.draws_.diagnostics.restarts),
            }

        return Fitted(
            lambda asked: -gate.score_samples(asked),
            partial(conformal_p_values, gate.calibration_scores_),  # what gate.p_values gives
            describe,
        )

    def _made(self, **more: Any) -> Any:
        return getattr(dissensus, self.kind)(**self.changes, **more)


def _sums(
    gate: Any, rows: FloatArray, normal: FloatArray, strange: FloatArray, seed: int
) -> dict[str, float]:
    """AUROC of the sum of what training rows and likelihood tell, ``all``, and without each, by its name.

    It is made anew of the same statistics and the same validation rows, whichever of them the detector adds
    up itself.
    """
    there = {*gate.preprocessor_.statistic_names, LIKELIHOOD}
    names = tuple(name for name in Fused.SURROUNDED if name in there)
    if names != Fused.SURROUNDED:
        return {}
    validation = rows[split(len(rows), part_fractions(len(rows)), seed=seed)["validation"]]
    device = torch.device("cpu")
    learnt_from, one, other = (
        measure(gate.learnt_, gate.preprocessor_.read(asked).array, (MATRIX, *SURROUNDINGS), device=device)
        for asked in (validation, normal, strange)
    )

    def area(added: tuple[str, ...]) -> float:
        score = Fused(added, depth=SUM, leading=added).fit(learnt_from)
        return auroc(rounded(score(one)), rounded(score(other)))

    left_out = {name: tuple(each for each in names if each != name) for name in names}
    return {"all": area(names), **{name: area(others) for name, others in left_out.items()}}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)
