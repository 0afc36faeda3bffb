"""Rows as CSV, JSON lines or Parquet, some at a time."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, Protocol, TextIO, TypeAlias, get_args

from dissensus.destination import Destination
from dissensus.errors import SettingsError
from dissensus.inputs.tables import require_pyarrow
from dissensus.outputs.labels import NUMBERED, PartLabel
from dissensus.outputs.parquet import ParquetRows
from dissensus.outputs.rows import Row

__all__ = [
    "FORMATS",
    "Format",
    "RowWriter",
    "check_format",
    "format_of",
    "write_rows",
    "writer_of",
    "writer_to",
]

Format: TypeAlias = Literal["csv", "jsonl", "parquet"]
FORMATS: tuple[Format, ...] = get_args(Format)


class RowWriter(Protocol):
    """Takes rows as they come; nothing is complete before it is closed."""

    def write(self, rows: Sequence[Row]) -> None:
        """Write some more rows."""
        ...

    def write_table(self, table: Any) -> None:
        """Write some more rows of parts, given as the columns of an Arrow table."""
        ...

    def close(self) -> None:
        """Finish the output: no more rows come."""
        ...


def format_of(path: Path) -> Format:
    """The format that a file's name asks for; CSV where it asks for none, and what nobody writes is refused.

    >>> format_of(Path("rows.jsonl")), format_of(Path("rows"))
    ('jsonl', 'csv')
    """
    suffix = path.suffix.lower().removeprefix(".")
    if suffix and suffix not in FORMATS:
        raise SettingsError(
            f"{path} ends with .{suffix}, which is no format that rows are written in: name it .csv, .jsonl "
            "or .parquet, or say which by --format"
        )
    return next((format for format in FORMATS if format == suffix), "csv")


def check_format(format: Format) -> None:
    """Refuses a format whose package is not installed, before any work is done."""
    if format == "parquet":
        require_pyarrow("writing Parquet")


def writer_to(stream: TextIO, format: Format, columns: Sequence[str]) -> RowWriter:
    """A writer of text whose rows have left this process when ``write`` returns."""
    return _Csv(stream, columns) if format == "csv" else _JsonLines(stream, columns)


@contextmanager
def writer_of(
    output: Destination, format: Format, columns: Sequence[str], *, label: PartLabel | None = None
) -> Iterator[RowWriter]:
    """A writer to what a person named: a stream gets rows as they come, a file is replaced at the end.

    A ``label``, which says what the rows are a part of, is kept in Parquet alone.
    """
    if format == "parquet":
        with output.binary() as bytes_:
            parquet = ParquetRows(bytes_, columns, label)
            try:
                yield parquet
            except BaseException:
                output.cut_off()  # it would write what ends a whole file
                with suppress(Exception):
                    parquet.close()
                raise
            parquet.close()
        return
    with output.text() as text:
        writer = writer_to(text, format, columns)
        yield writer
        writer.close()


def write_rows(
    output: Destination,
    format: Format,
    columns: Sequence[str],
    parts: Iterable[Sequence[Row]],
    *,
    label: PartLabel | None = None,
) -> None:
    """Writes all rows there are."""
    with writer_of(output, format, columns, label=label) as writer:
        for rows in parts:
            writer.write(rows)


class _Csv:
    def __init__(self, stream: TextIO, columns: Sequence[str]) -> None:
        self._stream, self._columns = stream, columns
        self._table = csv.writer(stream, lineterminator="\n")
        self._headed = False

    def write(self, rows: Sequence[Row]) -> None:
        self._put([[getattr(row, column) for row in rows] for column in self._columns])

    def write_table(self, table: Any) -> None:
        self._put([table.column(column).to_pylist() for column in self._columns])

    def close(self) -> None:
        self._head()
        self._stream.flush()

    def _put(self, columns: list[list[Any]]) -> None:
        self._head()
        flagged = self._columns.index("flagged")
        columns[flagged] = [_TRUTH[value] for value in columns[flagged]]
        self._table.writerows(zip(*columns, strict=True))
        self._stream.flush()

    def _head(self) -> None:
        """Only now is it sure that the inputs can be read."""
        if not self._headed:
            self._table.writerow(self._columns)
            self._headed = True


_TRUTH = {True: "true", False: "false", None: None}


class _JsonLines:
    def __init__(self, stream: TextIO, columns: Sequence[str]) -> None:
        self._stream, self._columns = stream, columns

    def write(self, rows: Sequence[Row]) -> None:
        self._put([[getattr(row, column) for row in rows] for column in self._columns])

    def write_table(self, table: Any) -> None:
        columns = {column: table.column(column).to_pylist() for column in (*self._columns, NUMBERED)}
        numbered = columns.pop(NUMBERED)
        columns["input"] = [
            int(name) if number else name for name, number in zip(columns["input"], numbered, strict=True)
        ]
        self._put(list(columns.values()))

    def close(self) -> None:
        self._stream.flush()

    def _put(self, columns: list[list[Any]]) -> None:
        for row in zip(*columns, strict=True):
            values = dict(zip(self._columns, map(_finite, row), strict=True))
            self._stream.write(_ENCODED(values) + "\n")
        self._stream.flush()


_ENCODED = json.JSONEncoder(ensure_ascii=False).encode  # once: json.dumps makes one a row


def _finite(value: Any) -> Any:
    """JSON has no infinity; the flag still says that the input is an outlier."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
