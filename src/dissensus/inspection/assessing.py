"""A gate is asked about every input of a set.

Inputs are worked on a batch at a time and only the most telling are kept, so that folders may be large.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from dissensus.decisions import DriftMonitor
from dissensus.detector import Detector, OnProgress
from dissensus.detector.asking import Decisions
from dissensus.detector.describing import about_left_out, about_model, about_sampler
from dissensus.detector.inputs import prepared
from dissensus.detector.posterior import posterior_in_words
from dissensus.errors import DataError, SettingsError
from dissensus.explain import Explanation
from dissensus.inputs import Chunk, ImageFolder, Prepared, open_stream
from dissensus.inspection.assessment import LEVEL, Assessment, Case, Flagged
from dissensus.inspection.column_shifts import RowSample, column_shifts
from dissensus.seeding import stream_seed

__all__ = ["assess"]

BATCH = 256  # inputs in memory at once, and between two reports of progress


def assess(
    gate: Detector,
    data: Any,
    *,
    source: str | None = None,
    gate_name: str = "a gate",
    shown: int = 6,
    limit: int | None = None,
    on_error: Literal["raise", "skip"] = "raise",
    on_progress: OnProgress | None = None,
) -> Assessment:
    """Asks the gate about every input of ``data``: whatever it can score, or a stream already open.

    ``source`` is what they are called and ``gate_name`` what the gate is. ``shown`` of the most unusual and
    as many of the most typical are explained; only the first ``limit`` are looked at. ``on_error="skip"``
    goes on after inputs that cannot be used.
    """
    if shown < 0 or (limit is not None and limit < 1):
        raise SettingsError(f"shown={shown} must be at least 0, and limit={limit} at least 1 or None")
    unusual, typical = _Extremes(shown, sign=-1), _Extremes(shown, sign=1)
    monitor = DriftMonitor(gate.calibration_scores_, false_alarm_probability=LEVEL)
    columns: list[tuple[NDArray[Any], ...]] = []
    unreadable: list[tuple[str | int, str]] = []
    flags: list[Flagged] = []
    sample = RowSample(stream_seed(gate.seed_, "columns"))
    scored = 0
    for chunk in _chunks(gate, data, limit):
        names, inputs = _usable(gate, chunk, on_error, unreadable)
        if names:
            decisions = gate.decide(inputs)
            columns.append((*decisions, monitor.update(decisions.score)))
            flags += _flagged(gate, decisions, scored, names, inputs)
            if gate.preprocessor_.table_columns:
                sample.add(inputs.array)
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
        about_sampler(gate),
        gate.noise_floor_,
        drift,
        monitor.alarm_at,
        tuple(flags),
        column_shifts(gate.preprocessor_.table_columns, gate.examples_.inputs, sample.rows),
        len(gate.examples_.inputs),
        _text(gate_name),
        datetime.now(UTC),
    )


def _flagged(
    gate: Detector, decisions: Decisions, start: int, names: list[Any], inputs: Prepared
) -> list[Flagged]:
    places = np.flatnonzero(decisions.flagged)
    return [
        Flagged(
            names[place],
            start + place,
            float(decisions.score[place]),
            float(decisions.p_value[place]),
            (*inputs.notes.get(place, ()), *filter(None, [known])),
        )
        for place, known in zip(places.tolist(), gate.known(Prepared(inputs.array[places])), strict=True)
    ]


class _Extremes:
    """The inputs with the lowest ``sign``·score so far; of equal ones the first."""

    def __init__(self, count: int, *, sign: int) -> None:
        self._count, self._sign = count, sign
        self._kept: list[tuple[float, int, str | int, Any]] = []

    def add(self, scores: NDArray[np.float64], start: int, names: list[Any], batch: Prepared) -> None:
        order = np.argsort(self._sign * scores, kind="stable")[: self._count].tolist()
        new = [(self._sign * scores[i], start + i, names[i], batch.alone(i)) for i in order]
        self._kept = sorted(self._kept + new, key=lambda kept: kept[:2])[: self._count]

    def explained(self, gate: Detector) -> tuple[Case, ...]:
        cases = []
        for _, position, name, batch_of_one in self._kept:
            [explanation] = cast(list[Explanation], gate.explain(batch_of_one))
            cases.append(Case(name, position, explanation))
        return tuple(cases)


def _chunks(gate: Detector, data: Any, limit: int | None) -> Iterator[Chunk]:
    """The inputs a chunk at a time, at most ``limit`` of them."""
    left = sys.maxsize if limit is None else limit
    size = min(BATCH, left)
    for chunk in open_stream(data, gate.preprocessor_).chunks(size):
        if len(chunk.names) > left:
            problems = {place: reason for place, reason in chunk.problems.items() if place < left}
            yield Chunk(chunk.names[:left], chunk.inputs[:left], 1.0, problems)
            return
        yield chunk
        left -= len(chunk.names)
        if not left:
            return


def _usable(
    gate: Detector,
    chunk: Chunk,
    on_error: Literal["raise", "skip"],
    unreadable: list[tuple[str | int, str]],
) -> tuple[list[str | int], Prepared]:
    """Names and inputs that can be scored; the others are an error, or go to the list with the reason."""
    found = prepared(gate.preprocessor_, chunk, on_error)
    unreadable += [(chunk.names[place], reason) for place, reason in found.reasons.items()]
    kept = [name for place, name in enumerate(chunk.names) if place not in found.problems]
    return kept, found.usable()


def _settings(gate: Detector) -> dict[str, Any]:
    names = ("statistic_", "false_alarm_rate", "adaptation", "resize")
    return {
        **{name.rstrip("_"): np.asarray(getattr(gate, name)).tolist() for name in names},
        **vars(gate.sampler_),
        "posterior": posterior_in_words(gate.sampler_.posterior),
        **about_model(gate),
        "explained_by": gate.model_.explained_by,
        "input_shape": list(gate.preprocessor_.shape),
        "seed": gate.seed_,
        "left_out": about_left_out(gate),
    }


def _called(data: Any) -> str:
    if isinstance(data, str | Path):
        return _text(str(data))
    return _text(str(data.root)) if isinstance(data, ImageFolder) else "the inputs"


def _text(name: str) -> str:
    """A file name may hold bytes that are no text; they are written as escapes."""
    return name.encode("utf-8", "backslashreplace").decode()
