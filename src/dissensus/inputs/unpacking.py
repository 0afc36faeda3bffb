"""Packed files are unpacked into memory only if they are not far larger than they look."""

from __future__ import annotations

from pathlib import Path

from dissensus.errors import DataError

__all__ = ["refuse_bomb"]

HARMLESS = 1 << 26  # bytes; small enough however well it was packed
HIGHEST_RATIO = 50  # MNIST packs 1:5, Fashion-MNIST 1:2; black pictures 1:1000


def refuse_bomb(path: Path, unpacked: int) -> None:
    """Refuses a file that unpacks to more than 64 MiB and to more than 50 times its own size."""
    if unpacked > HARMLESS and unpacked > HIGHEST_RATIO * path.stat().st_size:
        raise DataError(
            f"{path} is refused: it unpacks to {unpacked >> 20} MiB or more, over {HIGHEST_RATIO} times its "
            "size; store it unpacked if that is meant."
        )
