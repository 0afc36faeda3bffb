"""What there is to say about a gate, as JSON values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dissensus._version import __version__
from dissensus.decisions import least_calibration_size
from dissensus.detector.describing import about_left_out, about_model, about_sampler
from dissensus.report.health import describe_health, verdict_in_words

if TYPE_CHECKING:
    from dissensus.detector import Detector

__all__ = ["gate_columns", "gate_facts", "gate_kind"]

QUANTILES = 401
BINS = 40


def gate_kind(gate: Detector) -> str:
    """``images``, ``rows`` of numbers, or ``table`` whose columns have names."""
    kind = gate.preprocessor_.kind
    return "rows" if kind == "vectors" else kind


def gate_columns(gate: Detector) -> tuple[str, ...] | None:
    """The names of a table's columns, if they are known."""
    return gate.preprocessor_.feature_names


def gate_facts(gate: Detector, name: str, version: str) -> dict[str, Any]:
    """Of ``GET /gate``: what it was fitted on, what it promises, and its health."""
    interval, columns, inputs = gate.false_alarm_interval_, gate_columns(gate), gate.preprocessor_
    return {
        "name": name,
        "kind": gate_kind(gate),
        "input_shape": list(inputs.shape),
        "columns": None if columns is None else list(columns),
        "fitted_on": {
            **gate.fitted_rows_,
            "total": sum(gate.fitted_rows_.values()),
            **({} if (left_out := about_left_out(gate)) is None else {"left_out": left_out}),
            "accepts": inputs.contract()["accepts"],
            "preprocessing": inputs.steps(),
        },
        "settings": _settings(gate),
        "statistic": gate.statistic_,
        "false_alarm_rate": float(gate.false_alarm_rate),
        "threshold": _number(gate.threshold_),
        "false_alarm_interval": {
            "low": float(interval.low),
            "high": float(interval.high),
            "probability": float(interval.level),
        },
        "calibration": _calibration(gate.calibration_scores_),
        "health": _health(gate),
        "version": version,
        "dissensus": __version__,
    }


def _settings(gate: Detector) -> dict[str, Any]:
    return {
        **about_model(gate),
        "chains": gate.sampler_.chains,
        "resize": None if gate.resize is None else list(gate.resize),
        "draws": len(gate.draws_),
        "seed": int(gate.seed_),
    }


def _calibration(scores: NDArray[np.float64]) -> dict[str, Any]:
    ordered = np.sort(scores)
    if len(ordered) > QUANTILES:
        ordered = ordered[np.linspace(0, len(ordered) - 1, QUANTILES).round().astype(int)]
    finite = scores[np.isfinite(scores)]
    counts, edges = np.histogram(finite, bins=BINS) if len(finite) else (np.zeros(0), np.zeros(0))
    return {
        "count": len(scores),
        "scores": [_number(score) for score in ordered.tolist()],
        "histogram": {"edges": edges.tolist(), "counts": counts.astype(int).tolist()},
    }


def _health(gate: Detector) -> dict[str, Any]:
    health = about_sampler(gate)
    rhat = None if health is None or health["rhat"] is None else _number(health["rhat"])
    return {
        "noise_floor": _number(gate.noise_floor_),
        "rhat": rhat,
        "sentences": [] if health is None else describe_health(health, gate.noise_floor_, warned=True),
        "warnings": _warnings(gate, health),
    }


def _warnings(gate: Detector, health: Mapping[str, Any] | None) -> list[str]:
    warnings = [] if health is None else verdict_in_words(health["verdict"])
    count, rate = len(gate.calibration_scores_), gate.false_alarm_rate
    if not math.isfinite(gate.threshold_):
        warnings.append(
            f"Nothing can be flagged: {count} calibration inputs are too few for a false-alarm rate of "
            f"{rate:.3g}, which takes {least_calibration_size(rate)}."
        )
    if not len(gate.examples_.inputs):
        warnings.append("No training inputs were kept: explanations show none.")
    return warnings


def _number(value: float) -> float | None:
    """JSON has neither infinity nor NaN."""
    return float(value) if math.isfinite(value) else None
