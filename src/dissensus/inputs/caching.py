"""Inputs larger than memory, brought to where they can be read in any order: decoded once, chunk by chunk.

A chunk is a file that is whole or not there, so that a process that was killed while it decoded goes on with
the next one. Pictures become uint8, the columns of tables numbers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dissensus.atomic import atomic_path
from dissensus.errors import DataError, not_written
from dissensus.inputs.folders import ImageFolder
from dissensus.inputs.frames import Frame
from dissensus.inputs.listings import listing_digest
from dissensus.inputs.stored import Stored, StoredFile, checked
from dissensus.inputs.table_encoder import TableEncoder
from dissensus.inputs.tables import Table, TableFile, TableStream

__all__ = ["TABLE_SAMPLE", "store_array", "store_file", "store_pictures", "store_table", "stored_file"]

CHUNK = 1 << 25  # bytes of a chunk
TABLE_SAMPLE = 100_000  # rows that the kinds of columns are learnt from
SAMPLE_RUNS = 64  # as many evenly spaced runs of rows


def stored_file(file: StoredFile) -> Stored | None:
    """A ``.npy`` file as it is; None if it has to be decoded, as pictures of floats and rows of integers."""
    pictures = len(file.shape) in (3, 4) and file.dtype == np.uint8
    rows = len(file.shape) == 2 and file.dtype.kind == "f"
    return Stored([file], listing_digest(str(file.path))) if pictures or rows else None


def store_file(file: StoredFile, folder: Path) -> Stored:
    """A ``.npy`` file of other numbers as chunks of checked ones."""
    size = max(1, CHUNK // max(1, int(np.prod(file.shape[1:])) * file.dtype.itemsize))
    digest = listing_digest(str(file.path))
    return _chunks(folder, digest, file.shape[0], size, lambda start, stop: checked(file.read(start, stop)))


def store_array(array: NDArray[Any], folder: Path) -> Stored:
    """An array as chunks of checked rows."""
    size = max(1, CHUNK // max(1, int(np.prod(array.shape[1:])) * array.dtype.itemsize))
    digest = hashlib.sha256(f"{array.shape} {array.dtype}".encode())
    for start in range(0, len(array), size):
        digest.update(np.ascontiguousarray(array[start : start + size]).tobytes())
    return _chunks(
        folder, digest.hexdigest(), len(array), size, lambda start, stop: checked(array[start:stop])
    )


def store_pictures(pictures: ImageFolder, folder: Path) -> Stored:
    """A folder of pictures as chunks of uint8; with ``on_error="skip"`` without those that cannot be read."""
    shape = pictures.shape
    digest = hashlib.sha256(f"{shape} {pictures.on_error}".encode())
    for path in pictures.paths:
        digest.update(f"{path}\0{path.stat().st_size}\0".encode("utf-8", "surrogateescape"))
    size = max(1, CHUNK // int(np.prod(shape)))
    return _chunks(folder, digest.hexdigest(), len(pictures), size, pictures.run)


def store_table(table: TableFile | TableStream | Frame, folder: Path) -> tuple[Stored, TableEncoder]:
    """A table as chunks of numbers, and what makes numbers of its columns.

    The kinds of columns are learnt from at most 100,000 rows, in evenly spaced runs: what no run holds
    counts as never seen.
    """
    total = len(table)
    if not total:
        raise DataError("X holds no rows")
    encoder = TableEncoder.fit(_sample(table, total))
    digest = hashlib.sha256(f"{total} {encoder.to_config()}".encode())
    if isinstance(table, TableFile):
        digest.update(listing_digest(str(table.path)).encode())
    size = max(1, CHUNK // (8 * len(encoder.features)))
    chunks = _Following(table, size)

    def encoded(start: int, stop: int) -> NDArray[Any]:
        found = chunks.table(start)
        assert len(found) == stop - start
        rows, remarks = encoder.transform(found)
        for row, cells in remarks.problems.items():
            raise DataError(f"X cannot be learnt from at row {start + row}: {'; '.join(cells.values())}")
        return np.where(np.isnan(rows), _means(encoder, rows), rows)

    return _chunks(folder, digest.hexdigest(), total, size, encoded), encoder


class _Following:
    """A table's chunks, which are asked for in order, perhaps not from the first."""

    def __init__(self, table: TableFile | TableStream | Frame, size: int) -> None:
        self.table_, self.size = table, size
        self.chunks: Iterator[Any] | None = None

    def table(self, start: int) -> Table:
        if self.chunks is None:
            self.chunks = _whole_chunks(self.table_, self.size, start)
        found: Table = next(self.chunks)
        return found


def _whole_chunks(table: TableFile | TableStream | Frame, size: int, start: int) -> Iterator[Table]:
    """Tables of exactly ``size`` rows, but for the last: Parquet's own may be shorter."""
    waiting: Table | None = None
    for chunk in table.chunks(size, start):
        waiting = chunk.inputs if waiting is None else _joined(waiting, chunk.inputs)
        while len(waiting) >= size:
            yield waiting[:size]
            waiting = waiting[size:]
    if waiting is not None and len(waiting):
        yield waiting


def _joined(one: Table, other: Table) -> Table:
    problems = {**one.problems, **{len(one) + row: why for row, why in other.problems.items()}}
    columns = {name: [*values, *other.columns[name]] for name, values in one.columns.items()}
    return Table(columns, [*one.names, *other.names], problems, one.id_column)


def _sample(table: TableFile | TableStream | Frame, total: int) -> Table:
    """Evenly spaced runs of rows, or all of few."""
    size = min(total, max(1, TABLE_SAMPLE // SAMPLE_RUNS))
    starts = np.linspace(0, total - size, SAMPLE_RUNS if total > TABLE_SAMPLE else 1).astype(int)
    if total <= TABLE_SAMPLE:
        size = total
    found: Table | None = None
    for start in sorted(set(starts.tolist())):
        run = next(_whole_chunks(table, size, start))
        for row, reason in sorted(run.problems.items()):
            raise DataError(f"X cannot be read at row {start + row}: {reason}")
        found = run if found is None else _joined(found, run)
    assert found is not None
    return found


def _means(encoder: TableEncoder, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """What stands for a value that is missing here and in no row that the columns were learnt from."""
    with np.errstate(invalid="ignore"):
        means = np.nansum(rows, axis=0) / np.maximum(1, (~np.isnan(rows)).sum(axis=0))
    return np.broadcast_to(means, (len(rows), len(encoder.features)))


def _chunks(
    folder: Path, digest: str, total: int, size: int, read: Callable[[int, int], NDArray[Any]]
) -> Stored:
    """Chunks of ``size`` inputs, each a file; those that are there are not made again."""
    place = folder / digest[:16]
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise not_written(f"the folder for decoded inputs {place}", error) from error
    files = []
    for number, start in enumerate(range(0, total, size)):
        path = place / f"chunk-{number:06d}.npy"
        if not path.exists():
            chunk = read(start, min(start + size, total))
            try:
                with atomic_path(path) as temporary, temporary.open("wb") as file:
                    np.save(file, chunk)
            except OSError as error:
                raise not_written(path, error) from error
        file_ = StoredFile.open(path)
        assert file_ is not None
        if file_.shape[0]:
            files.append(file_)
    if not files:
        raise DataError("X holds no inputs that can be read")
    return Stored(files, digest)
