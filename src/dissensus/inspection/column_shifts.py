"""Which columns of a table have moved: each against training rows that the gate keeps.

Numbers and dates are compared by the two-sample Kolmogorov–Smirnov test, and by how many are missing
(Fisher's exact test); names by the χ² test of their counts. Of all columns together a shift is seen by chance
in 1 of 100 tables (Holm).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2_contingency, fisher_exact, ks_2samp

from dissensus.inputs import Column

__all__ = ["ColumnShift", "RowSample", "column_shifts"]

MOST_ROWS = 10_000  # of the inputs, chosen by chance, that are compared
LEAST_ROWS = 20
LEVEL = 0.01
EXPECTED = 5.0  # of a name in both sets together; rarer ones are counted together


@dataclass(frozen=True)
class ColumnShift:
    """How one column differs from what it was in training."""

    column: str
    p_value: float
    """As small as it would be by chance in so many tables with as many columns (Holm)."""
    moved: bool
    """Whether that is at most 0.01."""
    distance: float
    """From 0, all alike, to 1: the largest difference of the distribution functions, or of names the share of
    rows that have another one."""
    before: str
    """What training rows held, in a few words."""
    now: str

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)


class RowSample:
    """At most 10,000 of rows that come in parts, each as likely as any other."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._keys = np.empty(0)
        self._rows: NDArray[Any] | None = None

    def add(self, rows: NDArray[Any]) -> None:
        """Some more rows (n, D)."""
        keys = np.concatenate([self._keys, self._random.random(len(rows))])
        found = rows if self._rows is None else np.concatenate([self._rows, rows])
        if len(keys) > MOST_ROWS:
            kept = np.sort(np.argpartition(keys, MOST_ROWS)[:MOST_ROWS])
            keys, found = keys[kept], found[kept]
        self._keys, self._rows = keys, found

    @property
    def rows(self) -> NDArray[Any]:
        """Those that were chosen."""
        return np.empty((0, 0)) if self._rows is None else self._rows


def column_shifts(
    columns: Sequence[tuple[Column, slice]], training: NDArray[Any], rows: NDArray[Any]
) -> tuple[ColumnShift, ...]:
    """Compare rows (n, D) with training rows (E, D), column by column; those that moved most come first.

    Nothing where there are fewer than 20 of either.
    """
    if min(len(training), len(rows)) < LEAST_ROWS:
        return ()
    found = [_shift(column, training[:, place], rows[:, place]) for column, place in columns]
    by_p = sorted(found, key=lambda shift: shift.p_value)
    adjusted, largest = [], 0.0
    for place, shift in enumerate(by_p):
        largest = max(largest, min(1.0, (len(by_p) - place) * shift.p_value))
        adjusted.append(replace(shift, p_value=largest, moved=largest <= LEVEL))
    return tuple(sorted(adjusted, key=lambda shift: (not shift.moved, -shift.distance)))


def _shift(column: Column, training: NDArray[Any], rows: NDArray[Any]) -> ColumnShift:
    before, now = column.observed(training), column.observed(rows)
    if isinstance(before, list) or isinstance(now, list):
        p, distance, told = _of_names(list(map(str, before)), list(map(str, now)))
    else:
        p, distance, told = _of_numbers(column, before, now)
    return ColumnShift(column.name, p, False, distance, *told)


def _of_numbers(
    column: Column, before: NDArray[np.float64], now: NDArray[np.float64]
) -> tuple[float, float, tuple[str, str]]:
    present = [values[~np.isnan(values)] for values in (before, now)]
    absent = [len(values) - len(own) for values, own in zip((before, now), present, strict=True)]
    p, distance = 1.0, 0.0
    if all(map(len, present)):
        test = ks_2samp(present[0], present[1], method="asymp")
        p, distance = float(test.pvalue), float(test.statistic)
    if any(absent):
        counts = [absent, [len(own) for own in present]]
        p = min(1.0, 2 * min(p, float(fisher_exact(np.array(counts)).pvalue)))
        distance = max(distance, abs(absent[0] / len(before) - absent[1] / len(now)))
    shares = [count / len(values) for count, values in zip(absent, (before, now), strict=True)]
    first, second = (
        _middle(column, own, share if any(absent) else None)
        for own, share in zip(present, shares, strict=True)
    )
    return p, distance, (first, second)


def _middle(column: Column, values: NDArray[np.float64], missing: float | None) -> str:
    told = "" if missing is None else f", {missing:.0%} missing"
    if not len(values):
        return f"no value{told}"
    low, median, high = (
        column.written(float(v)) for v in np.quantile(values, [0.05, 0.5, 0.95], method="nearest")
    )
    return f"{median} ({low} – {high}){told}"


def _of_names(before: list[str], now: list[str]) -> tuple[float, float, tuple[str, str]]:
    counts = [Counter(before), Counter(now)]
    names = sorted(set(before) | set(now))
    shares = [np.array([c[n] / c.total() for n in names]) for c in counts]
    distance = float(0.5 * np.abs(shares[0] - shares[1]).sum())
    smaller = min(c.total() for c in counts) / sum(c.total() for c in counts)
    common = [n for n in names if (counts[0][n] + counts[1][n]) * smaller >= EXPECTED]
    table = [[c[n] for n in common] + [c.total() - sum(c[n] for n in common)] for c in counts]
    kept = np.array(table)[:, np.array(table).sum(axis=0) > 0]
    p = float(chi2_contingency(kept).pvalue) if kept.shape[1] > 1 else 1.0
    # Those whose share has changed most are what a person wants to read of.
    told = [names[place] for place in np.argsort(-np.abs(shares[0] - shares[1]), kind="stable")[:3]]
    first, second = (", ".join(f"{n} {c[n] / c.total():.0%}" for n in told) for c in counts)
    return p, distance, (first, second)
