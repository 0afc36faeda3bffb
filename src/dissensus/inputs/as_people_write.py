"""Numbers and dates as people write them, which are only text to a program.

What is written with decimal commas in a whole file is read. Anything else is recognised, so that a message
can say what it is: taken for names, 3,750 and 3,751 would be two unrelated things.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

__all__ = ["has_decimal_commas", "looks_like_date", "looks_like_number", "with_decimal_point"]

DECIMAL_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+")
ONLY_DECIMAL = re.compile(r"[+-]?(0|\d{4,}|\d{1,3}(\.\d{3})+),\d+|[+-]?\d+,(\d{1,2}|\d{4,})")
"""Written so that the comma cannot part thousands."""
THOUSANDS = re.compile(r"[+-]?\d{1,3}(\.\d{3})+")
DECIMAL_POINT = re.compile(r"[+-]?\d+\.\d+([eE][+-]?\d+)?")
SIGNS = "€$£¥%"
NUMBER = re.compile(rf"[+-]?[{SIGNS}]?\s?[+-]?(\d{{1,3}}([,.'’\s]\d{{3}})+|\d+)([.,]\d+)?\s?[{SIGNS}]?")
MONTH = r"(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
DAY = "|".join(
    [
        r"\d{1,4}(?P<between>[./-])\d{1,2}(?P=between)\d{1,4}",
        rf"{MONTH} \d{{1,2}},? \d{{4}}",
        rf"\d{{1,2}}\.?[ -]{MONTH}[ -]\d{{2,4}}",
    ]
)
DATE = re.compile(rf"({DAY})(,?[T ]\d{{1,2}}:\d{{2}}.*)?")


def has_decimal_commas(cells: Iterable[str]) -> bool:
    """Whether a file whose columns no comma parts has decimal commas.

    Some must be clear, and none may have a decimal point.

    >>> [has_decimal_commas(cells) for cells in (["1,5", "1.234"], ["1,234"], ["1,5", "2.5"])]
    [True, False, False]
    """
    clear = False
    for cell in cells:
        if DECIMAL_POINT.fullmatch(cell) and not THOUSANDS.fullmatch(cell):
            return False
        clear = clear or ONLY_DECIMAL.fullmatch(cell) is not None
    return clear


def with_decimal_point(cell: str) -> str:
    """A cell of a file with decimal commas, as programs write it; what is no number stays.

    >>> [with_decimal_point(cell) for cell in ("1.234,5", "1.234", "7", "Adelie, adult")]
    ['1234.5', '1234', '7', 'Adelie, adult']
    """
    text = cell.strip()
    if DECIMAL_COMMA.fullmatch(text) or THOUSANDS.fullmatch(text):
        return text.replace(".", "").replace(",", ".")
    return cell


def looks_like_number(value: Any) -> bool:
    """Whether a person would read a number.

    >>> [looks_like_number(text) for text in ("3,750", "€ 12.50", "12%", "1 000", "room 7", "1,2,3")]
    [True, True, True, True, False, False]
    """
    return _matches(NUMBER, value)


def looks_like_date(value: Any) -> bool:
    """Whether a person would read a date.

    >>> [looks_like_date(text) for text in ("28.12.2023", "9/8/2023 10:15", "Sep 1 2009", "1.2", "A-1-2")]
    [True, True, True, False, False]
    """
    return _matches(DATE, value)


def _matches(pattern: re.Pattern[str], value: Any) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value.strip()) is not None
