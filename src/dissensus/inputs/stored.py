"""Inputs that stay on disk: one ``.npy`` file of a person's own, or a cache of chunks, read a run at a time.

They are read, not mapped: the pages of a map would count as this process's memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import DataError
from dissensus.inputs.arrays import read_array
from dissensus.inputs.grey import as_grey
from dissensus.inputs.validation import check_images, check_rows, refuse_not_finite

__all__ = ["Stored", "StoredFile", "checked", "in_runs"]

RUN = 1 << 23  # bytes read at once


@dataclass(frozen=True)
class StoredFile:
    """The rows of one ``.npy`` file in C order."""

    path: Path
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    offset: int
    """Bytes before the first row."""

    @classmethod
    def open(cls, path: Path) -> StoredFile | None:
        """The file, or None if its rows do not lie one behind the other."""
        array = read_array(path, mapped=True)
        if not isinstance(array, np.memmap) or not array.flags.c_contiguous or array.dtype.hasobject:
            return None
        return cls(path, array.shape, array.dtype, array.offset)

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Rows ``start`` to ``stop``."""
        each = int(np.prod(self.shape[1:]))
        with self.path.open("rb") as file:
            file.seek(self.offset + start * each * self.dtype.itemsize)
            found = np.fromfile(file, self.dtype, (stop - start) * each)
        if len(found) != (stop - start) * each:
            raise DataError(f"{self.path} has become shorter while it was read: start again")
        return found.reshape(stop - start, *self.shape[1:])


class Stored:
    """Inputs (N, *S) on disk, checked as they are read: uint8 pictures (N, H, W, C), or rows (N, D)."""

    def __init__(self, files: Sequence[StoredFile], digest: str, *, grey: bool = False) -> None:
        self.files, self.digest = tuple(files), digest
        self.grey = grey
        """Whether pictures are grey, saved in colour, and handed out with one channel."""
        self.starts = np.cumsum([0, *(file.shape[0] for file in self.files)])
        first = self.files[0]
        self.pictured = len(first.shape) > 2
        shape = first.shape[1:]
        self.input_shape: tuple[int, ...] = shape
        if self.pictured:
            self.input_shape = (*shape[:2], 1 if grey or len(shape) == 2 else shape[2])
        self.row_bytes = int(np.prod(shape)) * (1 if self.pictured else 8)
        """Of one input, as it is read."""

    def __len__(self) -> int:
        return int(self.starts[-1])

    def run(self, start: int, stop: int) -> NDArray[Any]:
        """Inputs ``start`` to ``stop``, in order."""
        parts = []
        first = int(np.searchsorted(self.starts, start, side="right")) - 1
        for number in range(first, len(self.files)):
            begin, end = int(self.starts[number]), int(self.starts[number + 1])
            if begin >= stop:
                break
            parts.append(self.files[number].read(max(start, begin) - begin, min(stop, end) - begin))
        found = checked(np.concatenate(parts) if len(parts) > 1 else parts[0])
        return as_grey(found) if self.grey else found

    def runs(self) -> Iterator[NDArray[Any]]:
        """All inputs in order, a run at a time."""
        size = max(1, RUN // max(1, self.row_bytes))
        return (self.run(start, min(start + size, len(self))) for start in range(0, len(self), size))

    def in_grey(self) -> Stored:
        """The same pictures with one channel."""
        return Stored(self.files, f"{self.digest} in grey", grey=True)

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """The inputs of these numbers, which are in order."""
        if not len(rows):
            return self.run(0, 1)[:0]
        found = [self.run(start, stop)[picked] for start, stop, picked in in_runs(rows, self.row_bytes)]
        return np.concatenate(found) if len(found) != 1 else found[0]


def in_runs(rows: NDArray[np.int64], row_bytes: int) -> Iterator[tuple[int, int, NDArray[np.int64]]]:
    """What to read for inputs whose numbers are in order, run by run, and which of a run are meant."""
    most, at = max(1, RUN // max(1, row_bytes)), 0
    while at < len(rows):
        start = int(rows[at])
        end = int(np.searchsorted(rows, start + most))
        yield start, int(rows[end - 1]) + 1, rows[at:end] - start
        at = end


def checked(inputs: NDArray[Any]) -> NDArray[Any]:
    """Return pictures (n, H, W, C) or rows (n, D) that a model may learn from; others are a DataError."""
    if inputs.ndim > 2:
        return check_images(inputs)
    rows = check_rows(inputs)
    refuse_not_finite(rows)
    return rows
