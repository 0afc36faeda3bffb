"""From rows of named columns to rows of numbers, by a rule learnt from the training rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import DataError
from dissensus.inputs.tables import Table, is_number

__all__ = ["CategoryColumn", "NumberColumn", "TableEncoder"]

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?"})  # texts, in lower case
MOST_CATEGORIES = 50


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers; where some were missing in training, a second 0/1 column says which."""

    name: str
    median: float
    """Of the training rows; stands in for missing values."""
    may_miss: bool

    @property
    def features(self) -> list[str]:
        """The names of the columns it becomes."""
        return [self.name, f"{self.name} is missing"] if self.may_miss else [self.name]

    def encode(self, values: Sequence[Any], problems: dict[int, str]) -> NDArray[np.float64]:
        """(n, 1) or (n, 2); rows that cannot be encoded are added to ``problems``."""
        numbers = _numbers(values)
        for row in np.flatnonzero(~np.isfinite(numbers)).tolist():
            if _missing(values[row]):
                if not self.may_miss:
                    reason = f"column {self.name!r} is empty, which it never was in training"
                    problems.setdefault(row, reason)
            else:
                shown = str(values[row])[:40]
                problems.setdefault(row, f"column {self.name!r} holds {shown!r}, which is no finite number")
        missing = np.isnan(numbers)
        filled = np.where(missing, self.median, numbers)
        return np.stack([filled, missing] if self.may_miss else [filled], axis=1)


@dataclass(frozen=True)
class CategoryColumn:
    """A column of names: a 0/1 column for each that was seen in training, and one for all others."""

    name: str
    categories: tuple[str, ...]
    """In alphabetical order; "" is the missing one, if any was missing in training."""

    @property
    def features(self) -> list[str]:
        """The names of the columns it becomes."""
        return [*(f"{self.name}={category}" for category in self.categories), f"{self.name} is unseen"]

    def encode(self, values: Sequence[Any], problems: dict[int, str]) -> NDArray[np.float64]:  # noqa: ARG002
        """(n, categories + 1); no category is a problem, not even one never seen."""
        place = {category: number for number, category in enumerate(self.categories)}
        encoded = np.zeros((len(values), len(place) + 1))
        chosen = [place.get(_category(value), len(place)) for value in values]
        encoded[np.arange(len(values)), chosen] = 1.0
        return encoded


@dataclass(frozen=True)
class TableEncoder:
    """What each column becomes.

    - A column whose every value in training is a number or missing stays one column of numbers, on its own
      scale. Missing are None, NaN and the empty text, "NA", "N/A", "null", "none" and "?" in any case.
    - A missing number becomes the training rows' median. If any was missing in training, a 0/1 column says
      so; if none was, such a row cannot be scored.
    - Every other column holds categories, dates and other texts too: a 0/1 column for each that occurs in
      training, missing being one of them, and a last 0/1 column, 0 in all of training, for those unseen.
      More than 50 categories are refused.
    - Columns are found by name: their order means nothing, and columns unknown in training are ignored.

    >>> table = Table({"age": ["30", "", "50"], "pet": ["cat", "dog", "cat"]}, range(3))
    >>> encoder = TableEncoder.fit(table)
    >>> encoder.features
    ['age', 'age is missing', 'pet=cat', 'pet=dog', 'pet is unseen']
    >>> encoder.transform(Table({"age": ["NA"], "pet": ["eel"]}, [0]))[0]
    array([[40.,  1.,  0.,  0.,  1.]])
    """

    columns: tuple[NumberColumn | CategoryColumn, ...]
    id_column: str | None = None
    """The column that named the training rows; it names the scored ones where they have it."""

    @classmethod
    def fit(cls, table: Table, *, id_column: str | None = None) -> TableEncoder:
        """Learns the rule; a column that cannot be an input is an error that names it."""
        if not table.columns:
            raise DataError("the table has no column besides the ids: give it columns to learn from")
        return cls(tuple(_learnt(name, values) for name, values in table.columns.items()), id_column)

    @property
    def features(self) -> list[str]:
        """The names of the D columns that the table becomes."""
        return [feature for column in self.columns for feature in column.features]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the table's own columns."""
        return tuple(column.name for column in self.columns)

    def transform(self, table: Table) -> tuple[NDArray[np.float64], dict[int, str]]:
        """Rows (n, D), and why single rows cannot be used; what stands in those means nothing."""
        absent = [column.name for column in self.columns if column.name not in table.columns]
        if absent:
            raise DataError(f"the table lacks the column {absent[0]!r} that the detector was fitted with")
        problems = dict(table.problems)
        parts = [column.encode(table.columns[column.name], problems) for column in self.columns]
        return np.concatenate(parts, axis=1), problems

    def to_config(self) -> dict[str, Any]:
        """JSON values."""
        return {
            "id_column": self.id_column,
            "columns": [
                {"name": column.name, "median": column.median, "may_miss": column.may_miss}
                if isinstance(column, NumberColumn)
                else {"name": column.name, "categories": list(column.categories)}
                for column in self.columns
            ],
        }

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> TableEncoder:
        """The inverse of :meth:`to_config`."""
        columns: list[NumberColumn | CategoryColumn] = []
        for column in config["columns"]:
            if "median" in column:
                columns.append(
                    NumberColumn(column["name"], float(column["median"]), bool(column["may_miss"]))
                )
            else:
                columns.append(CategoryColumn(column["name"], tuple(column["categories"])))
        return cls(tuple(columns), config["id_column"])


def _learnt(name: str, values: Sequence[Any]) -> NumberColumn | CategoryColumn:
    present = [value for value in values if not _missing(value)]
    if not present:
        raise DataError(f"column {name!r} is empty in every row: drop it")
    if all(_is_numeric(value) for value in present):
        numbers = _numbers(present)
        if not np.isfinite(numbers).all():
            row = next(row for row, value in enumerate(values) if not _missing(value) and _infinite(value))
            raise DataError(f"column {name!r} is infinite in row {row}: repair or remove it")
        return NumberColumn(name, float(np.median(numbers)), len(present) < len(values))
    categories = sorted({_category(value) for value in values})
    if len(categories) > MOST_CATEGORIES:
        raise DataError(
            f"column {name!r} holds {len(categories)} different texts such as {categories[-1][:40]!r}, and "
            f"at most {MOST_CATEGORIES} can be categories: drop it, make it the id column, or bin it"
        )
    return CategoryColumn(name, tuple(categories))


def _numbers(values: Sequence[Any]) -> NDArray[np.float64]:
    """NaN for what is missing or no number."""
    return np.fromiter(map(_number, values), np.float64, len(values))


def _number(value: Any) -> float:
    try:
        return float(value) if _is_numeric(value) else math.nan
    except OverflowError:  # an integer beyond all floats
        return math.inf


def _infinite(value: Any) -> bool:
    return not math.isfinite(_number(value))


def _is_numeric(value: Any) -> bool:
    return is_number(value) if isinstance(value, str) else _is_plain_number(value)


def _is_plain_number(value: Any) -> bool:
    return hasattr(value, "__float__") and not isinstance(value, bool)


def _missing(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().lower() in MISSING
    return value is None or (isinstance(value, float) and math.isnan(value))


def _category(value: Any) -> str:
    """One text for the same category in every kind of file."""
    if _missing(value):
        return ""
    text = str(value).strip()
    return text.lower() if text.lower() in ("true", "false") else text
