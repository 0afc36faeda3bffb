"""Packed files are unpacked into memory only if they are not far larger than they look."""

from __future__ import annotations

from pathlib import Path

from dissensus.errors import DataError

__all__ = ["refuse_bomb"]

HARMLESS = 1 << 26  # bytes; small enough however well it was packed
HIGHEST_RATIO = 200  # black pictures of Fashion-MNIST's format pack 1:1000, real ones 1:2


def refuse_bomb(path: Path, unpacked: int) -> None:
    """Refuses a file that unpacks to more than 64 MiB and to more than 200 times its own size."""
    if unpacked > HARMLESS and unpacked > HIGHEST_RATIO * path.stat().st_size:
        raise DataError(
            f"{path} is refused: it unpacks to {unpacked >> 20} MiB or more, over {HIGHEST_RATIO} times its "
            "size; store it unpacked if that is meant."
        )
