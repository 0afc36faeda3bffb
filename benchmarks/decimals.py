"""Shares as tables print them."""

from __future__ import annotations

__all__ = ["short"]


def short(value: float | None) -> str:
    """.921 and 1.000: without the leading zero; a dash for nothing.

    >>> short(0.9214), short(1.0), short(None)
    ('.921', '1.000', '–')
    """
    return "–" if value is None else f"{value:.3f}".removeprefix("0")
