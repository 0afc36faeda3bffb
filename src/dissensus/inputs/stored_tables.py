"""Tables larger than memory, as chunks of numbers on disk.

Cells are Python's own objects until they are numbers, and take many times the memory: how many rows are read
at once depends on what there is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import DataError
from dissensus.inputs.caching import in_chunks
from dissensus.inputs.frames import Frame
from dissensus.inputs.identifiers import identifiers_in, warn_of_identifiers
from dissensus.inputs.listings import listing_digest
from dissensus.inputs.stored import Stored
from dissensus.inputs.table_encoder import TableEncoder
from dissensus.inputs.tables import Table, TableFile, TableStream

__all__ = ["CELL", "store_table"]

CELL = 256  # bytes of a cell as an object, twice where runs of rows are put together
NUMBERS = 4  # copies of a chunk's numbers while they are made
CHUNK_ROWS = 1 << 18  # of a chunk, where memory allows
SAMPLE = 100_000  # rows that the kinds of columns are learnt from, where memory allows
SAMPLE_RUNS = 64  # as many evenly spaced runs of rows


def store_table(
    table: TableFile | TableStream | Frame, folder: Path, *, most: int, stacklevel: int
) -> tuple[Stored, TableEncoder]:
    """A table as chunks of numbers, and what makes numbers of its columns, with about ``most`` bytes.

    The kinds of columns are learnt from at most 100,000 rows, in evenly spaced runs: what no run holds
    counts as never seen. Columns that number these rows are left out, with a warning.
    """
    total = len(table)
    if not total:
        raise DataError("X holds no rows")
    cells = CELL * _width(table)
    sample = _sample(table, total, max(1, min(SAMPLE, most // cells)))
    identifiers = identifiers_in(sample)
    encoder = TableEncoder.fit(identifiers.left_out_of(sample))
    warn_of_identifiers(identifiers, len(sample), stacklevel=stacklevel + 1)
    del sample
    digest = hashlib.sha256(f"{total} {encoder.to_config()}".encode())
    if isinstance(table, TableFile):
        digest.update(listing_digest(str(table.path)).encode())
    row = cells + NUMBERS * 8 * len(encoder.features)
    size = max(1, min(CHUNK_ROWS, most // row))
    chunks = _Following(table, size)

    def encoded(start: int, stop: int) -> NDArray[Any]:
        found = chunks.table(start)
        assert len(found) == stop - start
        rows, remarks = encoder.transform(found)
        for row, cells in remarks.problems.items():
            raise DataError(f"X cannot be learnt from at row {start + row}: {'; '.join(cells.values())}")
        return np.where(np.isnan(rows), _means(encoder, rows), rows)

    return in_chunks(folder, digest.hexdigest(), total, size, encoded), encoder


def _width(table: TableFile | TableStream | Frame) -> int:
    """How many cells a row has."""
    return max(1, len(table.table.columns if isinstance(table, TableStream) else table.columns))


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
    waiting: list[Table] = []
    for chunk in table.chunks(size, start):
        waiting.append(chunk.inputs)
        if sum(map(len, waiting)) >= size:
            found = _joined(waiting)
            waiting = [found[size:]]
            yield found[:size]
    if sum(map(len, waiting)):
        yield _joined(waiting)


def _joined(parts: Sequence[Table]) -> Table:
    if len(parts) == 1:
        return parts[0]
    problems: dict[int, str] = {}
    before = 0
    for part in parts:
        problems |= {before + row: why for row, why in part.problems.items()}
        before += len(part)
    first = parts[0]
    columns = {name: [value for part in parts for value in part.columns[name]] for name in first.columns}
    return Table(columns, [name for part in parts for name in part.names], problems, first.id_column)


def _sample(table: TableFile | TableStream | Frame, total: int, most: int) -> Table:
    """Evenly spaced runs of rows, at most so many in all, or all rows if they are fewer."""
    runs = 1 if total <= most else min(SAMPLE_RUNS, most)
    size = min(total, most) // runs
    found = []
    for start, run in _runs(table, np.linspace(0, total // size - 1, runs).astype(int).tolist(), size):
        for row, reason in sorted(run.problems.items()):
            raise DataError(f"X cannot be read at row {start + row}: {reason}")
        found.append(run)
    return _joined(found)


def _runs(
    table: TableFile | TableStream | Frame, numbers: Sequence[int], size: int
) -> Iterator[tuple[int, Table]]:
    """Those of a table's runs of ``size`` rows that have these numbers, which are in order, each once."""
    if not isinstance(table, TableFile) or table.reads_from_anywhere:
        for number in dict.fromkeys(numbers):
            yield number * size, next(_whole_chunks(table, size, number * size))
        return
    wanted = set(numbers)
    for number, run in enumerate(_whole_chunks(table, size, 0)):
        if number in wanted:
            yield number * size, run
        if number == numbers[-1]:
            return


def _means(encoder: TableEncoder, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """What stands for a value that is missing here and in no row that the columns were learnt from."""
    with np.errstate(invalid="ignore"):
        means = np.nansum(rows, axis=0) / np.maximum(1, (~np.isnan(rows)).sum(axis=0))
    return np.broadcast_to(means, (len(rows), len(encoder.features)))
