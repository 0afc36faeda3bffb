"""The cells of tables: which are missing, numbers or dates, and what they say in every kind of file."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dissensus.inputs.tables import is_number

__all__ = [
    "all_numbers",
    "category_of",
    "date_of",
    "date_parts",
    "is_missing",
    "is_numeric",
    "numbers_of",
    "present_rows",
]

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?"})  # texts, in lower case
DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?\s?(Z|[+-]\d{2}:?\d{2})?)?")


def numbers_of(values: Sequence[Any] | NDArray[Any]) -> NDArray[np.float64]:
    """Return the cells as numbers (n,), NaN for what is missing or no number."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiu":
        return values.astype(np.float64)
    return np.fromiter(map(_number, values), np.float64, len(values))


def _number(value: Any) -> float:
    try:
        return float(value) if is_numeric(value) else math.nan
    except OverflowError:  # an integer beyond all floats
        return math.inf


def present_rows(values: Sequence[Any] | NDArray[Any]) -> list[int]:
    """Return the rows whose cells are not missing."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiu":
        return np.flatnonzero(~np.isnan(values)).tolist()
    return [row for row, value in enumerate(values) if not is_missing(value)]


def all_numbers(values: Sequence[Any] | NDArray[Any], rows: Sequence[int]) -> bool:
    """Whether the cells of these rows are all numbers, or texts of numbers."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiu":
        return True
    return all(is_numeric(values[row]) for row in rows)


def is_numeric(value: Any) -> bool:
    """Whether a cell is a number or the text of one; truth values are none."""
    return is_number(value) if isinstance(value, str) else _is_plain_number(value)


def _is_plain_number(value: Any) -> bool:
    return hasattr(value, "__float__") and not isinstance(value, bool | np.bool_)


def date_of(value: Any) -> datetime | None:
    """Return the date and time of a cell in any form that files and frames have, or None if it is none."""
    if isinstance(value, datetime):
        return value if value == value else None  # pandas' NaT is a datetime that does not equal itself
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    if not isinstance(value, str) or DATE.fullmatch(text := value.strip()) is None:
        return None
    try:
        return datetime.fromisoformat(text.replace(" +", "+").replace(" Z", "Z"))
    except ValueError:
        return None


def date_parts(moment: datetime) -> tuple[int, int, int, int]:
    """Return year, month, weekday (Monday is 0) and hour, as the clock showed them."""
    return moment.year, moment.month, moment.weekday(), moment.hour


def is_missing(value: Any) -> bool:
    """Whether a cell is None, NaN, or a text that stands for nothing, such as "NA"."""
    if isinstance(value, str):
        return value.strip().lower() in MISSING
    if isinstance(value, datetime):
        return value != value
    return value is None or (isinstance(value, float) and math.isnan(value))


def category_of(value: Any) -> str:
    """Return one text for the same category in every kind of file; "" for a missing one."""
    if is_missing(value):
        return ""
    text = str(value).strip()
    return text.lower() if text.lower() in ("true", "false") else text
