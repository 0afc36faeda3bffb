"""Amounts of memory: as a person writes them, and as much as this process has."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from dissensus.errors import SettingsError

__all__ = ["in_words", "parse_memory", "resident"]

UNITS = {"": 1, **{prefix: 1000**power for power, prefix in enumerate("kmgt", 1)}}
UNITS |= {f"{prefix}i": 1024**power for power, prefix in enumerate("kmgt", 1)}


def parse_memory(amount: str | int) -> int:
    """Bytes of an amount such as ``"2 GB"``, ``"512 MiB"`` or a number of bytes.

    >>> parse_memory("2 GB"), parse_memory("1.5GiB"), parse_memory(10**9)
    (2000000000, 1610612736, 1000000000)
    """
    if isinstance(amount, int) and not isinstance(amount, bool) and amount > 0:
        return amount
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]i?)?b?", str(amount).strip().lower())
    if found is None or not float(found[1]):
        raise SettingsError(f"memory takes an amount such as '2 GB' or '512 MiB', not {amount!r}")
    return int(float(found[1]) * UNITS[found[2] or ""])


def in_words(amount: float) -> str:
    """Bytes as a person reads them.

    >>> in_words(2_345_000_000), in_words(12_000_000)
    ('2.3 GB', '12 MB')
    """
    return f"{amount / 1e9:.1f} GB" if amount >= 1e9 else f"{amount / 1e6:.0f} MB"


def resident() -> int:
    """Bytes of memory that this process has now, or where that is not told, that it has had at most."""
    import resource  # not on Windows

    status = Path("/proc/self/statm")
    if status.exists():
        return int(status.read_text("ascii").split()[1]) * resource.getpagesize()
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
