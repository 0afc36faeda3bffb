"""What one named column of a table becomes: numbers stay numbers, dates become parts, names become 0/1."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import ArtifactError
from dissensus.inputs.cells import (
    category_of,
    date_of,
    date_parts,
    is_missing,
    numbers_of,
)

__all__ = [
    "LONGEST_NAME",
    "CategoryColumn",
    "Column",
    "DateColumn",
    "NumberColumn",
    "Remarks",
    "column_from_config",
]

LONGEST_NAME = 1000  # characters of a column's or a category's name
SHOWN = 3  # values named in a span
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass
class Remarks:
    """What there is to say about the cells of n rows, by row."""

    problems: dict[int, dict[str, str]] = field(default_factory=dict)
    """Row → column → why it cannot be read; such a row cannot be scored."""
    notes: dict[int, list[str]] = field(default_factory=dict)
    """Row → what no training row had, in words."""

    def refuse(self, row: int, column: str, value: Any, wanted: str) -> None:
        """Record that a cell holds another kind of value than its column did in training."""
        reason = f"column {column!r} holds {str(value)[:40]!r}, which is no {wanted}"
        self.problems.setdefault(row, {})[column] = reason

    def note(self, row: int, text: str) -> None:
        """Record a value that no training row had."""
        self.notes.setdefault(row, []).append(text)

    def never_missing(self, row: int, column: str) -> None:
        """Record a missing value in a column where none was missing in training."""
        self.note(row, f"{column}: missing, never so in training")


class Column(ABC):
    """How the cells of one column become numbers."""

    kind: ClassVar[str]
    """How it is called in a file."""
    name: str

    @property
    @abstractmethod
    def features(self) -> list[str]:
        """The names of the columns of numbers that it becomes."""

    @abstractmethod
    def encode(self, values: Sequence[Any] | NDArray[Any], remarks: Remarks) -> NDArray[np.float64]:
        """Return numbers (n, features); NaN stands for what is missing and never was in training."""

    @abstractmethod
    def observed(self, rows: NDArray[np.float64]) -> NDArray[np.float64] | list[str]:
        """Return one value a row of encoded ones (n, features): numbers with NaN for missing, or names."""

    def written(self, value: float) -> str:
        """Return a number of :meth:`observed` as a person would write it."""
        return "missing" if math.isnan(value) else f"{value:.6g}"

    def shown(self, row: NDArray[np.float64]) -> str:
        """Return what a person would write for the encoded cell (features,) of one row."""
        [value] = self.observed(row[None])
        return value if isinstance(value, str) else self.written(float(value))

    def span(self, rows: NDArray[np.float64]) -> str:
        """Return in a few words what encoded cells (n, features) hold."""
        if not len(rows):
            return "–"
        different = list(dict.fromkeys(self.shown(row) for row in rows))
        return " or ".join(different[:SHOWN]) + (" …" if len(different) > SHOWN else "")

    @abstractmethod
    def to_config(self) -> dict[str, Any]:
        """JSON values, from which :func:`column_from_config` makes the same column."""

    @property
    @abstractmethod
    def is_sound(self) -> bool:
        """Whether a table could have led to it; what is read from a file may be anything."""


@dataclass(frozen=True)
class NumberColumn(Column):
    """A column of numbers; where some were missing in training, a second 0/1 column says which."""

    kind: ClassVar[str] = "numbers"
    name: str
    median: float
    """Of the training rows; stands in for missing values."""
    may_miss: bool

    @property
    def features(self) -> list[str]:
        """Its own name and, if values were missing, a column that says so."""
        return [self.name, f"{self.name} is missing"] if self.may_miss else [self.name]

    def encode(self, values: Sequence[Any] | NDArray[Any], remarks: Remarks) -> NDArray[np.float64]:
        """(n, 1) or (n, 2)."""
        numbers = numbers_of(values)
        for row in np.flatnonzero(~np.isfinite(numbers)).tolist():
            if not is_missing(values[row]):
                remarks.refuse(row, self.name, values[row], "finite number")
            elif not self.may_miss:
                remarks.never_missing(row, self.name)
        return _with_missing(numbers[:, None], [self.median], self.may_miss)

    def observed(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """The numbers (n,)."""
        return np.where(rows[:, 1] > 0.5, np.nan, rows[:, 0]) if self.may_miss else rows[:, 0]

    def span(self, rows: NDArray[np.float64]) -> str:
        """Return the smallest and the largest number, in words."""
        numbers = self.observed(rows)
        present = numbers[~np.isnan(numbers)]
        if len(present) < 2:
            return super().span(rows)
        return f"{present.min():.4g} – {present.max():.4g}"

    def to_config(self) -> dict[str, Any]:
        """JSON values."""
        return {"name": self.name, "kind": self.kind, "median": self.median, "may_miss": self.may_miss}

    @property
    def is_sound(self) -> bool:
        """Whether its median is a number."""
        return math.isfinite(self.median)


@dataclass(frozen=True)
class DateColumn(Column):
    """A column of dates, or of dates with a time of day, as their parts, which are numbers.

    A date without a time has the hour 0. Times are those on the clock: zones are not converted.
    """

    PARTS: ClassVar[tuple[str, ...]] = ("year", "month", "weekday", "hour")

    kind: ClassVar[str] = "dates"
    name: str
    medians: tuple[float, ...]
    """Of each part, of the training rows; they stand in for missing dates."""
    may_miss: bool

    @property
    def features(self) -> list[str]:
        """One for each part and, if dates were missing, a column that says so."""
        missing = [f"{self.name} is missing"] if self.may_miss else []
        return [*(f"{self.name} {part}" for part in self.PARTS), *missing]

    def encode(self, values: Sequence[Any] | NDArray[Any], remarks: Remarks) -> NDArray[np.float64]:
        """(n, 4) or (n, 5)."""
        parts = np.full((len(values), len(self.PARTS)), np.nan)
        for row, value in enumerate(values):
            moment = date_of(value)
            if moment is not None:
                parts[row] = date_parts(moment)
            elif not is_missing(value):
                remarks.refuse(row, self.name, value, "date such as 2026-05-01 or 2026-05-01T12:30")
            elif not self.may_miss:
                remarks.never_missing(row, self.name)
        return _with_missing(parts, self.medians, self.may_miss)

    def observed(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Months since the year 0 (n,)."""
        months = 12 * rows[:, 0] + rows[:, 1] - 1
        return np.where(rows[:, -1] > 0.5, np.nan, months) if self.may_miss else months

    def written(self, value: float) -> str:
        """Year and month."""
        if not math.isfinite(value):
            return super().written(value)
        year, month = divmod(round(value), 12)
        return f"{year}-{month + 1:02d}"

    def shown(self, row: NDArray[np.float64]) -> str:
        """Year, month, weekday and hour."""
        [month] = self.observed(row[None])
        if not np.isfinite(row).all() or math.isnan(month):
            return self.written(float(month))
        weekday = WEEKDAYS[round(row[2]) % len(WEEKDAYS)]
        hour = f" at {round(row[3])} h" if round(row[3]) else ""  # as dates without a time have it
        return f"{self.written(float(month))}, a {weekday}{hour}"

    def span(self, rows: NDArray[np.float64]) -> str:
        """Return the first and the last month, in words."""
        months = self.observed(rows)
        present = months[np.isfinite(months)]
        if not len(present):
            return super().span(rows)
        first, last = self.written(present.min()), self.written(present.max())
        return first if first == last else f"{first} – {last}"

    def to_config(self) -> dict[str, Any]:
        """JSON values."""
        medians = list(self.medians)
        return {"name": self.name, "kind": self.kind, "medians": medians, "may_miss": self.may_miss}

    @property
    def is_sound(self) -> bool:
        """Whether it has a number for each part."""
        return len(self.medians) == len(self.PARTS) and all(map(math.isfinite, self.medians))


@dataclass(frozen=True)
class CategoryColumn(Column):
    """A column of names: a 0/1 column for each common one, one for all rare ones, one for those unseen."""

    kind: ClassVar[str] = "categories"
    name: str
    categories: tuple[str, ...]
    """In alphabetical order; "" is the missing one, if any was missing in training."""
    rare: tuple[str, ...] = ()
    """Seen in training, but so seldom that they share a column."""

    @property
    def features(self) -> list[str]:
        """One for each common name, one for the rare ones if there are any, and one for those unseen."""
        other = [f"{self.name} is another"] if self.rare else []
        return [*(f"{self.name}={name}" for name in self.categories), *other, f"{self.name} is unseen"]

    def encode(self, values: Sequence[Any] | NDArray[Any], remarks: Remarks) -> NDArray[np.float64]:
        """(n, features); no name is a problem, not even one never seen."""
        place = {category: number for number, category in enumerate(self.categories)}
        place |= dict.fromkeys(self.rare, len(self.categories))
        unseen = len(self.features) - 1
        encoded = np.zeros((len(values), unseen + 1))
        for row, value in enumerate(values):
            category = category_of(value)
            at = place.get(category, unseen)
            encoded[row, at] = 1.0
            if at == unseen and category:
                remarks.note(row, f"{self.name}: {category[:40]}, never seen")
            elif at == unseen:
                remarks.never_missing(row, self.name)
        return encoded

    def observed(self, rows: NDArray[np.float64]) -> list[str]:
        """Their names; those that were rare in training, and those never seen, are called so."""
        names = [category or "missing" for category in self.categories]
        names += ["a rare one"] * bool(self.rare) + ["one never seen"]
        return [names[place] for place in rows.argmax(axis=1)]

    def to_config(self) -> dict[str, Any]:
        """JSON values."""
        names = {"categories": list(self.categories), "rare": list(self.rare)}
        return {"name": self.name, "kind": self.kind, **names}

    @property
    def is_sound(self) -> bool:
        """Whether its names are texts, each there once, of a length that is worth keeping."""
        names = (*self.categories, *self.rare)
        sound = all(isinstance(name, str) and len(name) <= LONGEST_NAME for name in names)
        return sound and len(set(names)) == len(names)


def column_from_config(config: Mapping[str, Any]) -> Column:
    """The inverse of :meth:`Column.to_config`."""
    name, kind = config["name"], config["kind"]
    if kind == NumberColumn.kind:
        return NumberColumn(name, float(config["median"]), bool(config["may_miss"]))
    if kind == DateColumn.kind:
        return DateColumn(name, tuple(map(float, config["medians"])), bool(config["may_miss"]))
    if kind == CategoryColumn.kind:
        return CategoryColumn(name, tuple(config["categories"]), tuple(config["rare"]))
    raise ArtifactError(f"there are no columns of the kind {str(kind)[:99]!r} here: upgrade dissensus")


def _with_missing(
    numbers: NDArray[np.float64], medians: Sequence[float], may_miss: bool
) -> NDArray[np.float64]:
    if not may_miss:
        return numbers
    missing = np.isnan(numbers[:, :1])
    return np.hstack([np.where(missing, medians, numbers), missing])
