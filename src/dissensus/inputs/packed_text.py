"""Text and lines in files, plain or packed by gzip."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple, cast

__all__ = ["UNREADABLE", "Bytes", "kind_of_file", "opened"]

UNREADABLE = (OSError, EOFError, UnicodeDecodeError, zlib.error)
"""What reading such a file raises where it is damaged, or no text."""


class Bytes(NamedTuple):
    """A file that is being read."""

    content: IO[bytes]
    """What it holds, unpacked."""
    file: IO[bytes]
    """The file itself."""
    size: int
    """Of the file, in bytes; at least 1."""

    @property
    def share(self) -> float:
        """How much of the file is behind."""
        return min(1.0, self.file.tell() / self.size)


def kind_of_file(path: str | Path) -> str:
    """Return the suffix that tells what a file holds, in lower case, with ".gz" if it is packed text.

    >>> kind_of_file("a/Penguins.CSV.gz"), kind_of_file("train-images.gz"), kind_of_file("v1.2/x.jsonl")
    ('.csv.gz', '.gz', '.jsonl')
    """
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    packed = suffixes[-1:] == [".gz"] and suffixes[-2:-1] in ([".csv"], [".tsv"], [".jsonl"])
    return "".join(suffixes[-2:] if packed else suffixes[-1:])


@contextmanager
def opened(path: Path) -> Iterator[Bytes]:
    """Open a file whose name ends with ``.gz`` unpacked, any other as it is."""
    with path.open("rb") as file:
        size = max(1, path.stat().st_size)
        if path.suffix.lower() != ".gz":
            yield Bytes(file, file, size)
            return
        with gzip.open(file, "rb") as unpacked:
            yield Bytes(cast("IO[bytes]", unpacked), file, size)
