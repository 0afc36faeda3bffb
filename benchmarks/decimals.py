"""Shares as tables print them."""

from __future__ import annotations

__all__ = ["short"]


def short(value: float | None, digits: int = 3) -> str:
    """.921 and 1.000: without the leading zero; a dash for nothing.

    >>> short(0.9214), short(0.9214, 2), short(1.0), short(None)
    ('.921', '.92', '1.000', '–')
    """
    return "–" if value is None else f"{value:.{digits}f}".removeprefix("0")
