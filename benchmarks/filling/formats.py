"""How a number is printed in a document."""

from __future__ import annotations

import math
import re

from dissensus.errors import SettingsError

__all__ = ["formatted"]


def formatted(value: float, how: str) -> str:
    """The number by a format of Python's, such as ``.1f``, ``,.0f`` or ``.0%``, or by one of two more.

    ``s3`` is a share with three decimals and without the leading zero, ``g3`` has three digits that count.

    >>> formatted(0.9689, "s3"), formatted(1.0, "s2"), formatted(25_437.0, "g3"), formatted(7.484, "g2")
    ('.969', '1.00', '25,400', '7.5')
    >>> formatted(0.0347, ".1%"), formatted(20_000, ",.0f")
    ('3.5%', '20,000')

    What is not a number was not measured, and is a dash.

    >>> formatted(math.nan, "s3")
    '–'
    """
    if math.isnan(value):
        return "–"
    if own := re.fullmatch(r"([sg])(\d)", how):
        digits = int(own[2])
        if own[1] == "s":
            return f"{value:.{digits}f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.{digits}f}"
        rounded = float(f"{value:.{digits}g}")
        return f"{rounded:,.0f}" if abs(rounded) >= 10 ** (digits - 1) else f"{rounded:.{digits}g}"
    try:
        return format(value, how)
    except ValueError:
        raise SettingsError(f"{how!r} is no format of a number: write .1f, ,.0f, .0%, s3 or g3") from None
