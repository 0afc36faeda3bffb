"""A gate and a set of inputs in, everything a report says out: plain arrays and numbers, no model.

Inputs are worked on a batch at a time and only the most telling are kept, so that folders may be large.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray
from scipy.stats import betabinom

from dissensus.data import Chunk, ImageFolder, Table
from dissensus.decisions import DriftMonitor, allowed_alarms
from dissensus.detector import BayesianVAE, OnProgress
from dissensus.detector.posterior import posterior_in_words
from dissensus.detector.streaming import open_stream, readable
from dissensus.errors import DataError, SettingsError
from dissensus.explain import Explanation

__all__ = ["Assessment", "Case", "assess"]

BATCH = 256  # inputs in memory at once, and between two reports of progress
LEVEL = 0.01
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


@dataclass(frozen=True)
class Case:
    """One input that is shown, with the reason for its score."""

    name: str | int
    """Path below the folder, id of a row, or row number from 0."""
    position: int
    """Among the inputs that could be read, from 0."""
    explanation: Explanation


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

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def false_alarm_rate(self) -> float:
        """The share of inputs like the training data that may be flagged."""
        return float(self.settings["false_alarm_rate"])

    @property
    def expected(self) -> tuple[int, int]:
        """How many of as many inputs like the training data would be flagged, in 98 of 100 cases."""
        if self._allowed == 0:
            return 0, 0
        law = self._law()
        return int(law.ppf(LEVEL)), int(law.ppf(1 - LEVEL))

    @property
    def chance(self) -> float:
        """How often as many inputs like the training data would have at least as many flagged.

        With n calibration inputs and k = ⌊α(n + 1)⌋ the share of inliers above the threshold is Beta(k,
        n + 1 − k), so their number among N is beta-binomial: that the threshold was itself set on a sample is
        taken into account. It holds for inputs that do not depend on each other.
        """
        flagged = int(self.flagged.sum())
        if flagged == 0:
            return 1.0
        return float(self._law().sf(flagged - 1))

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
            "most_unusual": [_case(case) for case in self.unusual],
            "most_typical": [_case(case) for case in self.typical],
            "drift": {
                "alarm_at": self.drift_alarm,
                "largest_log10_evidence": float(self.drift.max() / math.log(10)),
            },
            "noise_floor": self.noise_floor,
            "settings": dict(self.settings),
        }

    @property
    def _allowed(self) -> int:
        """k: how many calibration inputs lie at or above the threshold at most."""
        return allowed_alarms(len(self.calibration_scores), self.false_alarm_rate)

    def _law(self) -> Any:
        k, n = self._allowed, len(self.calibration_scores)
        return betabinom(len(self), k, n + 1 - k)


def assess(
    gate: BayesianVAE,
    data: Any,
    *,
    source: str | None = None,
    shown: int = 6,
    limit: int | None = None,
    on_error: Literal["raise", "skip"] = "raise",
    on_progress: OnProgress | None = None,
) -> Assessment:
    """Asks the gate about every input of ``data``: whatever it can score, or a stream already open.

    ``source`` is what they are called, ``shown`` how many of the most unusual and of the most typical are
    explained, ``limit`` how many are looked at, from the first. ``on_error="skip"`` goes on after inputs that
    cannot be used.
    """
    if shown < 0 or (limit is not None and limit < 1):
        raise SettingsError(f"shown={shown} must be at least 0, and limit={limit} at least 1 or None")
    unusual, typical = _Extremes(shown, sign=-1), _Extremes(shown, sign=1)
    monitor = DriftMonitor(gate.calibration_scores_, false_alarm_probability=LEVEL)
    columns: list[tuple[NDArray[Any], ...]] = []
    unreadable: list[tuple[str | int, str]] = []
    scored = 0
    for chunk in _chunks(gate, data, limit):
        names, inputs = _usable(gate, chunk, on_error, unreadable)
        if names:
            decisions = gate.decide(inputs)
            columns.append((*decisions, monitor.update(decisions.score)))
            for extremes in (unusual, typical):
                extremes.add(decisions.score, scored, names, inputs)
            scored += len(names)
        if on_progress is not None:
            on_progress("assessing", round(1000 * chunk.share), 1000)
    if not columns:
        raise DataError("there is no input that can be assessed: give at least one")
    scores, p_values, flagged, drift = (np.concatenate(column) for column in zip(*columns, strict=True))
    return Assessment(
        _called(data if source is None else source),
        scores,
        p_values,
        flagged,
        unusual.explained(gate),
        typical.explained(gate),
        tuple(unreadable),
        gate.calibration_scores_,
        gate.threshold_,
        _settings(gate),
        gate.draws_.diagnostics.health() if gate.draws_.diagnostics.reports else None,
        gate.noise_floor_,
        drift,
        monitor.alarm_at,
    )


class _Extremes:
    """The inputs with the lowest ``sign``·score so far; of equal ones the first."""

    def __init__(self, count: int, *, sign: int) -> None:
        self._count, self._sign = count, sign
        self._kept: list[tuple[float, int, str | int, Any]] = []

    def add(self, scores: NDArray[np.float64], start: int, names: list[Any], batch: Any) -> None:
        order = np.argsort(self._sign * scores, kind="stable")[: self._count].tolist()
        # A copy: a view would keep the whole batch in memory.
        new = [
            (self._sign * scores[i], start + i, names[i], _rows(batch, slice(i, i + 1)).copy()) for i in order
        ]
        self._kept = sorted(self._kept + new, key=lambda kept: kept[:2])[: self._count]

    def explained(self, gate: BayesianVAE) -> tuple[Case, ...]:
        cases = []
        for _, position, name, batch_of_one in self._kept:
            [explanation] = cast(list[Explanation], gate.explain(batch_of_one))
            cases.append(Case(name, position, explanation))
        return tuple(cases)


def _chunks(gate: BayesianVAE, data: Any, limit: int | None) -> Iterator[Chunk]:
    """The inputs a chunk at a time, at most ``limit`` of them."""
    left = sys.maxsize if limit is None else limit
    size = min(BATCH, left)
    stream: Iterator[Chunk]
    if hasattr(data, "iloc"):  # a frame of scikit-learn's kind keeps the names of its columns
        stream = (
            Chunk(range(start, start + len(part)), part, (start + len(part)) / len(data))
            for start in range(0, len(data), size)
            for part in [data.iloc[start : start + size]]
        )
    else:
        stream = (data if hasattr(data, "chunks") else open_stream(gate, data)).chunks(size)
    for chunk in stream:
        if len(chunk.names) > left:
            problems = {place: reason for place, reason in chunk.problems.items() if place < left}
            yield Chunk(chunk.names[:left], _rows(chunk.inputs, slice(left)), 1.0, problems)
            return
        yield chunk
        left -= len(chunk.names)
        if not left:
            return


def _usable(
    gate: BayesianVAE,
    chunk: Chunk,
    on_error: Literal["raise", "skip"],
    unreadable: list[tuple[str | int, str]],
) -> tuple[list[str | int], Any]:
    """Names and inputs that can be scored; the others are an error, or go to the list with the reason."""
    inputs, problems = readable(gate, chunk, on_error)
    unreadable += [(chunk.names[place], reason) for place, reason in sorted(problems.items())]
    kept = [place for place in range(len(chunk.names)) if place not in problems]
    return [chunk.names[place] for place in kept], inputs[kept] if problems else inputs


def _rows(inputs: Any, rows: slice) -> Any:
    """Some rows of an array, a frame or a table."""
    if isinstance(inputs, Table):
        columns = {name: values[rows] for name, values in inputs.columns.items()}
        problems = {place: reason for place, reason in inputs.problems.items() if place < rows.stop}
        return Table(columns, inputs.names[rows], problems)
    return inputs.iloc[rows] if hasattr(inputs, "iloc") else inputs[rows]


def _settings(gate: BayesianVAE) -> dict[str, Any]:
    names = ("variant", "statistic_", "false_alarm_rate", "chains", "draws", "samples", "step_size", "resize")
    return {
        **{name.rstrip("_"): np.asarray(getattr(gate, name)).tolist() for name in names},
        "posterior": posterior_in_words(gate.posterior),
        "observation": gate.vae_.observation.name,
        "latent_size": gate.vae_.latent_size,
        "input_shape": list(gate.input_shape_),
        "seed": gate.seed_,
    }


def _called(data: Any) -> str:
    if isinstance(data, str | Path):
        return _text(str(data))
    return _text(str(data.root)) if isinstance(data, ImageFolder) else "the inputs"


def _case(case: Case) -> dict[str, Any]:
    return {"input": case.name, "position": case.position, **case.explanation.to_dict()}


def _text(name: str) -> str:
    """A file name may hold bytes that are no text; they are written as escapes."""
    return name.encode("utf-8", "backslashreplace").decode()


def _number(value: float) -> float | None:
    """JSON has neither infinity nor NaN."""
    return float(value) if math.isfinite(value) else None
