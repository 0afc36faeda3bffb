"""Tables of named columns in CSV, Parquet and Excel files, read as a whole or a run of rows at a time."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from dissensus.errors import DataError
from dissensus.inputs.as_people_write import has_decimal_commas, with_decimal_point
from dissensus.inputs.chunks import Chunk
from dissensus.inputs.packed_text import UNREADABLE, kind_of_file, opened
from dissensus.inputs.unpacking import refuse_bomb
from dissensus.inputs.workbook import workbook_rows

__all__ = [
    "TABLE_SUFFIXES",
    "UNNAMED",
    "Table",
    "TableFile",
    "TableStream",
    "is_number",
    "is_table",
    "require_pyarrow",
]

TABLE_SUFFIXES = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".xlsx")
UNNAMED = "Unnamed: 0"
"""How pandas calls a first column without a name, which is the index that a frame was saved with."""
COUNTED = 1 << 19  # cells that are in memory while rows are counted
LOOKED_AT = 1000  # rows that tell whether a file has decimal commas
_DELIMITERS = ",;\t|"
_LONGEST_HEADER = 1 << 20


@dataclass(frozen=True)
class Table:
    """n rows of named columns; values are text, numbers, dates, truth values or None, as they came."""

    columns: Mapping[str, Sequence[Any] | NDArray[Any]]
    """By name, n values each; columns of numbers may be arrays, where NaN is a missing one."""
    names: Sequence[str | int]
    """(n,) the rows' ids, or their numbers."""
    problems: Mapping[int, str] = field(default_factory=dict)
    """Row → why it could not be read; its values are all None."""
    id_column: str | None = None
    """Which column the ids come from, if any."""

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, rows: slice) -> Table:
        """Some of the rows, in order."""
        start, stop, _ = rows.indices(len(self))
        problems = {row - start: reason for row, reason in self.problems.items() if start <= row < stop}
        columns = {name: values[start:stop] for name, values in self.columns.items()}
        return Table(columns, self.names[start:stop], problems, self.id_column)


class TableStream:
    """The rows of a table that is in memory."""

    live = False

    def __init__(self, table: Table) -> None:
        self.table = table

    def __len__(self) -> int:
        return len(self.table)

    def load(self) -> Table:
        """Return the whole table."""
        return self.table

    def chunks(self, size: int, start: int = 0) -> Iterator[Chunk]:
        """Tables of at most ``size`` rows, from row ``start`` on."""
        for begin in range(start, len(self), size):
            rows = self.table[begin : begin + size]
            yield Chunk(rows.names, rows, (begin + len(rows)) / len(self), dict(rows.problems))


class TableFile:
    """A ``.csv``, ``.tsv``, ``.parquet`` or ``.xlsx`` file whose first line, or schema, names the columns.

    Text may be packed, as in ``.csv.gz``; of a workbook the first sheet is read (extra ``excel``).

    ``id_column`` names the rows and is no input; columns in ``drop`` are left out. The columns of text files
    are separated by whichever of comma, semicolon, tab and bar the first line holds most of; where it is no
    comma, numbers may have decimal commas. Empty lines do not count. A first column without a name, as the
    index of a frame is saved, names the rows if no other does.
    """

    live = False

    def __init__(self, path: str | Path, *, id_column: str | None = None, drop: Sequence[str] = ()) -> None:
        self.path = Path(path)
        self.id_column = id_column
        self.drop = tuple(drop)
        self._decimal_commas = False
        suffix = self.path.suffix.lower()
        self._parquet, self._excel = suffix == ".parquet", suffix == ".xlsx"
        self._all = self._parquet_columns() if self._parquet else self._header()
        if id_column is None and self._all[0] == UNNAMED and UNNAMED not in self.drop:
            self.id_column = UNNAMED
        repeated = sorted({name for name in self._all if self._all.count(name) > 1})
        if repeated:
            raise DataError(f"{self.path} has two columns named {repeated[0]!r}: rename one")
        for name in (*self.drop, *([] if id_column is None else [id_column])):
            if name not in self._all:
                raise DataError(f"{self.path} has no column {name!r}: it has {', '.join(self._all)}")

    def __len__(self) -> int:
        """How many rows there are; those of text files are counted again each time."""
        if self._parquet:
            return int(require_pyarrow(str(self.path)).read_metadata(self.path).num_rows)
        size = max(1, COUNTED // len(self._all))
        return sum(len(chunk.names) for chunk in self.chunks(size))

    @property
    def reads_from_anywhere(self) -> bool:
        """Whether rows are read without those before them; text and workbooks begin at their first line."""
        return self._parquet

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of those columns that are inputs."""
        return tuple(name for name in self._all if name != self.id_column and name not in self.drop)

    def load(self) -> Table:
        """Return the whole table; a row that cannot be read is an error."""
        values: dict[str, list[Any]] = {name: [] for name in self.columns}
        names: list[str | int] = []
        for chunk in self.chunks(65_536):
            for position, reason in sorted(chunk.problems.items()):
                raise DataError(f"{self.path} cannot be read at row {len(names) + position}: {reason}")
            names += chunk.names
            for name, column in values.items():
                column += chunk.inputs.columns[name]
        if not names:
            raise DataError(f"{self.path} holds no rows")
        return Table(values, names, id_column=self.id_column)

    def chunks(self, size: int, start: int = 0) -> Iterator[Chunk]:
        """Tables of at most ``size`` rows, from row ``start`` on."""
        if self._excel:
            return self._excel_chunks(size, start)
        return self._parquet_chunks(size, start) if self._parquet else self._csv_chunks(size, start)

    def _header(self) -> list[str]:
        header = self._workbook_header() if self._excel else self._text_header()
        if header and not header[0] and len(header) > 1:
            header[0] = UNNAMED
        if not header:
            raise DataError(f"{self.path} is empty: its first line must name the columns, and rows follow")
        if not all(header):
            raise DataError(
                f"{self.path} must name every column in its first line, and leaves column "
                f"{header.index('') + 1} without a name: name it, or remove it"
            )
        if all(is_number(name) for name in header):
            raise DataError(
                f"{self.path} holds numbers in its first line, which must name the columns: put a line of "
                "names above"
            )
        return header

    def _text_header(self) -> list[str]:
        try:
            with opened(self.path) as found, TextIOWrapper(found.content, "utf-8-sig", newline="") as stream:
                starts = iter(lambda: stream.readline(_LONGEST_HEADER), "")
                first = next((start for start in starts if start.strip()), "")
                self._delimiter = max(_DELIMITERS, key=first.count)
                stream.seek(0)
                lines = csv.reader(stream, delimiter=self._delimiter)
                names = [name.strip() for name in next((line for line in lines if line), [])]
                if self._delimiter != ",":
                    cells = (cell.strip() for line in islice(lines, LOOKED_AT) for cell in line)
                    self._decimal_commas = has_decimal_commas(cells)
                return names
        except (*UNREADABLE, csv.Error) as error:
            raise DataError(
                f"{self.path} cannot be read as text in UTF-8 ({error}): save it as CSV in UTF-8"
            ) from error

    def _workbook_header(self) -> list[str]:
        names = next(workbook_rows(self.path), [])
        while names and names[-1] in (None, ""):  # cells beside the table that were only coloured
            names.pop()
        return ["" if name is None else str(name).strip() for name in names]

    def _excel_chunks(self, size: int, start: int) -> Iterator[Chunk]:
        width, total = len(self._all), 0
        rows = islice(workbook_rows(self.path), 1 + start, None)
        while run := list(islice(rows, size)):
            # Rows of a sheet end where the last cell is; empty cells beyond the table are none of it.
            even = [row[:width] + [None] * (width - len(row)) + _beyond(row, width) for row in run]
            total = start + len(run)
            yield self._of_lines(even, start, 0.0)
            start = total

    def _csv_chunks(self, size: int, start: int) -> Iterator[Chunk]:
        with opened(self.path) as found, TextIOWrapper(found.content, "utf-8-sig", newline="") as stream:
            lines = (row for row in csv.reader(stream, delimiter=self._delimiter) if row)
            try:
                next(lines)
                for _ in islice(lines, start):
                    pass
                while rows := list(islice(lines, size)):
                    refuse_bomb(self.path, found.content.tell())
                    if self._decimal_commas:
                        rows = [self._with_decimal_points(row) for row in rows]
                    yield self._of_lines(rows, start, found.share)
                    start += len(rows)
            except (csv.Error, *UNREADABLE, StopIteration) as error:
                raise DataError(
                    f"{self.path} cannot be read after row {start} ({error}): save it as CSV in UTF-8"
                ) from error

    def _with_decimal_points(self, row: list[str]) -> list[str]:
        named = None if self.id_column is None else self._all.index(self.id_column)  # a name is no number
        return [cell if place == named else with_decimal_point(cell) for place, cell in enumerate(row)]

    def _of_lines(self, rows: list[list[Any]], start: int, share: float) -> Chunk:
        width = len(self._all)
        problems = {
            position: _of_another_width(len(row), width)
            for position, row in enumerate(rows)
            if len(row) != width
        }
        whole: list[Sequence[Any]] = [
            [None] * width if position in problems else row for position, row in enumerate(rows)
        ]
        values = dict(zip(self._all, zip(*whole, strict=True), strict=True))
        return self._chunk(values, start, share, problems)

    def _parquet_columns(self) -> list[str]:
        parquet = require_pyarrow(str(self.path))
        try:
            return list(parquet.read_schema(self.path).names)
        except Exception as error:  # on damaged bytes the parser raises almost anything
            raise DataError(f"{self.path} cannot be read as Parquet ({error}): write it again") from error

    def _parquet_chunks(self, size: int, start: int) -> Iterator[Chunk]:
        parquet = require_pyarrow(str(self.path))
        wanted = [*self.columns, *([] if self.id_column is None else [self.id_column])]
        try:
            with parquet.ParquetFile(self.path) as file:
                total = max(1, file.metadata.num_rows)
                groups, done = _from_group(file.metadata, start)
                for batch in file.iter_batches(size, row_groups=groups, columns=wanted):
                    begin, done = done, done + batch.num_rows
                    if done <= start:
                        continue
                    rows = batch.slice(max(0, start - begin))
                    yield self._chunk(rows.to_pydict(), max(begin, start), done / total, {})
        except DataError:
            raise
        except Exception as error:
            raise DataError(f"{self.path} cannot be read as Parquet ({error}): write it again") from error

    def _chunk(
        self, values: Mapping[str, Sequence[Any]], start: int, share: float, problems: dict[int, str]
    ) -> Chunk:
        count = len(next(iter(values.values())))
        names: list[str | int] = list(range(start, start + count))
        if self.id_column is not None:
            ids = values[self.id_column]
            names = [number if i is None or i == "" else _id(i) for number, i in zip(names, ids, strict=True)]
        table = Table({name: values[name] for name in self.columns}, names, problems, self.id_column)
        return Chunk(names, table, min(share, 1.0), problems)


def _of_another_width(fields: int, width: int) -> str:
    """What is wrong with a row that has more fields than the file has columns, or fewer."""
    columns = "1 column: remove what stands above the line of names, if anything does"
    named = columns if width == 1 else f"{width} columns"
    return f"it has {fields} field{'s'[: fields != 1]}, and the first line names {named}"


def _beyond(row: list[Any], width: int) -> list[Any]:
    """What stands in a sheet's row beside its table."""
    rest = row[width:]
    return rest if any(value not in (None, "") for value in rest) else []


def _from_group(about: Any, start: int) -> tuple[list[int], int]:
    """Those of a Parquet file's groups of rows that are needed from row ``start`` on, and the first's row."""
    groups, done = list(range(about.num_row_groups)), 0
    while groups and done + about.row_group(groups[0]).num_rows <= start:
        done += about.row_group(groups.pop(0)).num_rows
    return groups, done


def is_number(text: str) -> bool:
    """Whether a person would call it a number.

    >>> [is_number(text) for text in ("-1.5e3", "1_000", "one", "nan")]
    [True, False, False, True]
    """
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def require_pyarrow(name: str) -> Any:
    """The module ``pyarrow.parquet``, or an error that names the extra it comes with."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise DataError(f"{name} needs pyarrow: pip install 'dissensus[table]'") from error
    return pyarrow.parquet


def _id(value: Any) -> str | int:
    return value if isinstance(value, str | int) else str(value)


def is_table(source: object) -> bool:
    """Whether it is a path to a file that holds a table."""
    if not isinstance(source, str | Path) or kind_of_file(source) not in TABLE_SUFFIXES:
        return False
    return os.path.isfile(source)  # noqa: PTH113 unlike Path's own, False for names that no file could have
