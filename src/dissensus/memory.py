"""Amounts of memory: as a person writes them, and as much as this process has."""

from __future__ import annotations

import ctypes
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from dissensus.errors import SettingsError

__all__ = ["give_back", "in_words", "parse_memory", "peak_of"]

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


def give_back() -> None:
    """Hand free memory back to the system, on Linux: torch's many sizes leave holes that add up otherwise."""
    if sys.platform.startswith("linux"):
        library = ctypes.CDLL(None)
        if hasattr(library, "malloc_trim"):
            library.malloc_trim(0)


def peak_of(work: Callable[[], object]) -> int:
    """Do some work, and return the bytes of memory that this process had at most meanwhile.

    Where the system does not tell that of a piece of work, it is what the process had at most until now.
    """
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", "ascii")  # the peak is counted from here
    work()
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text("ascii", "replace").splitlines()
        peak = next((line for line in lines if line.startswith("VmHWM:")), None)
        if peak is not None:
            return int(peak.split()[1]) * 1024
    import resource  # not on Windows

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
