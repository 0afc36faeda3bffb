"""One row for each input, and decisions that need more than one row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from dissensus.decisions import DriftMonitor, discovery_limit

__all__ = ["Row", "with_drift", "with_fdr"]


@dataclass(frozen=True, slots=True)
class Row:
    """What is said about one input; of one that could not be scored, only why."""

    input: str | int
    """The row's id, the path below the folder, or the row's number from 0."""
    score: float | None = None
    """Higher = more out-of-distribution."""
    p_value: float | None = None
    flagged: bool | None = None
    error: str | None = None
    notes: str | None = None
    """What no training input had, such as "country: Mars, never seen"."""
    drift: float | None = None
    """The logarithm of the drift monitor's capital after this input."""


def with_drift(parts: Iterable[Sequence[Row]], monitor: DriftMonitor) -> Iterator[list[Row]]:
    """The same rows with the monitor's answer; those without a score do not move it."""
    for rows in parts:
        path = iter(monitor.update([row.score for row in rows if row.score is not None]).tolist())
        yield [row if row.score is None else replace(row, drift=next(path)) for row in rows]


def with_fdr(parts: Iterable[Sequence[Row]], p_values: Iterable[float], fdr: float) -> Iterator[list[Row]]:
    """The same rows, flagged by Benjamini–Hochberg over the p-values of all rows together.

    >>> rows = [Row(0, 1.0, 0.01, True), Row(1, 0.5, 0.04, True), Row(2, error="unreadable")]
    >>> [row.flagged for part in with_fdr([rows], [0.01, 0.04], 0.03) for row in part]
    [True, False, None]
    """
    # It flags the smallest p-values: a limit says which without a list of all inputs.
    occurring = Counter(p_values)
    limit = discovery_limit(list(occurring), list(occurring.values()), fdr)
    for rows in parts:
        yield [row if row.p_value is None else replace(row, flagged=row.p_value <= limit) for row in rows]
