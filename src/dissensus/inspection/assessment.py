"""What a gate says about a set of inputs: plain arrays and numbers, no model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import betabinom

from dissensus.decisions import Exchangeability, allowed_alarms, chance_of_alarms, check_exchangeable
from dissensus.errors import SettingsError
from dissensus.explain import Explanation
from dissensus.inspection.column_shifts import ColumnShift

__all__ = ["LEVEL", "Assessment", "Case", "Flagged"]

LEVEL = 0.01
LEAST_FOR_DRIFT = 20  # inputs
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


@dataclass(frozen=True)
class Case:
    """One input that is shown, with the reason for its score."""

    name: str | int
    """Path below the folder, id of a row, or row number from 0."""
    position: int
    """Among the inputs that could be read, from 0."""
    explanation: Explanation


class Flagged(NamedTuple):
    """One flagged input."""

    name: str | int
    position: int
    score: float
    p_value: float
    notes: tuple[str, ...]
    """What no training input had, and what a person said of it before."""


@dataclass(frozen=True)
class Assessment:
    """What a gate says about N inputs."""

    source: str
    """What the inputs are called."""
    scores: NDArray[np.float64]
    """(N,), in the order of the inputs; higher = more unusual."""
    p_values: NDArray[np.float64]
    """(N,)"""
    flagged: NDArray[np.bool_]
    """(N,)"""
    unusual: tuple[Case, ...]
    """The inputs with the highest scores, highest first."""
    typical: tuple[Case, ...]
    """Those with the lowest scores, lowest first."""
    unreadable: tuple[tuple[str | int, str], ...]
    """Inputs that could not be scored, each with the reason."""
    calibration_scores: NDArray[np.float64]
    """(n,), of inputs like the training data."""
    threshold: float
    """What scores above it is flagged."""
    settings: Mapping[str, Any]
    """The gate's settings, as JSON values."""
    health: Mapping[str, Any] | None
    """The sampler's, from ``Diagnostics.health``; ``None`` where a gate does not tell."""
    noise_floor: float
    """In nats."""
    drift: NDArray[np.float64]
    """(N,): the evidence that the stream has changed, as the logarithm of a martingale's capital."""
    drift_alarm: int | None
    """The position at which that evidence was enough, which happens to 1 in 100 streams without drift."""
    flagged_inputs: tuple[Flagged, ...] = ()
    """Every input that was flagged, in their order."""
    columns: tuple[ColumnShift, ...] = ()
    """Of rows, how each column differs from training rows; none where there is nothing to compare with."""
    training_rows: int = 0
    """How many training rows they were compared with."""
    gate: str = "a gate"
    """What the gate is called: the folder it was loaded from."""
    made: datetime | None = None
    """When the gate was asked."""

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def false_alarm_rate(self) -> float:
        """The share of inputs like the training data that may be flagged."""
        return float(self.settings["false_alarm_rate"])

    @property
    def expected(self) -> tuple[int, int]:
        """How many of as many inputs like the training data would be flagged, in 98 of 100 cases."""
        n = len(self.calibration_scores)
        k = allowed_alarms(n, self.false_alarm_rate)
        if k == 0:
            return 0, 0
        law = betabinom(len(self), k, n + 1 - k)
        return int(law.ppf(LEVEL)), int(law.ppf(1 - LEVEL))

    @property
    def chance(self) -> float:
        """How often as many inputs like the training data would have at least as many flagged.

        With n calibration inputs and k = ⌊α(n + 1)⌋ the share of inliers above the threshold is Beta(k,
        n + 1 − k), so their number among N is beta-binomial: that the threshold was itself set on a sample is
        taken into account. It holds for inputs that do not depend on each other.
        """
        return chance_of_alarms(
            len(self.calibration_scores),
            self.false_alarm_rate,
            tests=len(self),
            alarms=int(self.flagged.sum()),
        )

    @cached_property
    def exchangeability(self) -> Exchangeability:
        """Whether the inputs as a whole score like the calibration inputs."""
        return check_exchangeable(self.calibration_scores, self.scores, self.false_alarm_rate, level=LEVEL)

    @property
    def is_ordered(self) -> bool:
        """Whether there are enough inputs to tell from their order that they drift."""
        return len(self) >= LEAST_FOR_DRIFT

    def passed(self, level: float = LEVEL) -> bool:
        """Whether the share flagged is compatible with the false-alarm rate: :attr:`chance` ≥ ``level``.

        Inputs like the training data fail with probability ``level`` or less.
        """
        if not 0 < level < 1:
            raise SettingsError(f"level must lie between 0 and 1, got {level!r}")
        return self.chance >= level

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON values, without pictures and without a line for each input."""
        low, high = self.expected
        return {
            "source": self.source,
            "passed": self.passed(),
            "inputs": len(self),
            "flagged": int(self.flagged.sum()),
            "expected_flagged": {"low": low, "high": high},
            "chance": self.chance,
            "exchangeability": self.exchangeability.to_dict(),
            "unreadable": [{"input": name, "reason": reason} for name, reason in self.unreadable],
            "threshold": _number(self.threshold),
            "calibration_inputs": len(self.calibration_scores),
            "quantiles": {
                name: {f"{q:g}": _number(float(np.quantile(values, q, method="lower"))) for q in QUANTILES}
                for name, values in (
                    ("score", self.scores),
                    ("p_value", self.p_values),
                    ("calibration_score", self.calibration_scores),
                )
            },
            "gate": self.gate,
            "made": None if self.made is None else self.made.isoformat(timespec="seconds"),
            "flagged_inputs": [
                {
                    "input": found.name,
                    "position": found.position,
                    "score": _number(found.score),
                    "p_value": found.p_value,
                    "notes": list(found.notes),
                }
                for found in self.flagged_inputs
            ],
            "columns": [shift.to_dict() for shift in self.columns],
            "training_rows": self.training_rows,
            "most_unusual": [_case(case) for case in self.unusual],
            "most_typical": [_case(case) for case in self.typical],
            "drift": {
                "alarm_at": self.drift_alarm if self.is_ordered else None,
                "largest_log10_evidence": float(self.drift.max() / math.log(10)),
            },
            "noise_floor": self.noise_floor,
            "settings": dict(self.settings),
        }


def _case(case: Case) -> dict[str, Any]:
    return {"input": case.name, "position": case.position, **case.explanation.to_dict()}


def _number(value: float) -> float | None:
    """JSON has neither infinity nor NaN."""
    return float(value) if math.isfinite(value) else None
