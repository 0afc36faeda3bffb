"""Texts from a file, one a line."""

from __future__ import annotations

import gzip
from pathlib import Path

from dissensus.errors import DataError

__all__ = ["read_lines"]


def read_lines(path: str | Path) -> list[str]:
    """Return the lines of a UTF-8 file, plain or packed by gzip (``.gz``), without empty ones."""
    path = Path(path)
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        lines = [line.strip() for line in data.decode("utf-8").splitlines()]
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read as lines of text ({error})") from error
    found = [line for line in lines if line]
    if not found:
        raise DataError(f"{path} holds no lines of text")
    return found
