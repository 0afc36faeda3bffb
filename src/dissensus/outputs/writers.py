"""Rows as CSV, JSON lines or Parquet, some at a time."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Literal, Protocol, TextIO, TypeAlias, get_args

from dissensus.destination import Destination
from dissensus.errors import SettingsError
from dissensus.inputs.tables import require_pyarrow
from dissensus.outputs.labels import LABEL, NUMBERED, PartLabel
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
        """Some more rows."""
        ...

    def close(self) -> None:
        """No more rows come."""
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
            parquet = _Parquet(bytes_, columns, label)
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
        self._head()
        for row in rows:
            values = [getattr(row, column) for column in self._columns]
            self._table.writerow([str(v).lower() if isinstance(v, bool) else v for v in values])
        self._stream.flush()

    def close(self) -> None:
        self._head()
        self._stream.flush()

    def _head(self) -> None:
        """Only now is it sure that the inputs can be read."""
        if not self._headed:
            self._table.writerow(self._columns)
            self._headed = True


class _JsonLines:
    def __init__(self, stream: TextIO, columns: Sequence[str]) -> None:
        self._stream, self._columns = stream, columns

    def write(self, rows: Sequence[Row]) -> None:
        for row in rows:
            values = {column: _finite(getattr(row, column)) for column in self._columns}
            self._stream.write(json.dumps(values, ensure_ascii=False) + "\n")
        self._stream.flush()

    def close(self) -> None:
        self._stream.flush()


class _Parquet:
    """The input's name is always text here: a column has one type. A part says which were numbers."""

    def __init__(self, stream: BinaryIO, columns: Sequence[str], label: PartLabel | None) -> None:
        parquet = require_pyarrow("writing Parquet")
        import pyarrow

        text = pyarrow.string()
        types = {"input": text, "flagged": pyarrow.bool_(), "error": text, "notes": text}
        types[NUMBERED] = pyarrow.bool_()
        columns = [*columns, *([] if label is None else [NUMBERED])]
        metadata = None if label is None else {LABEL: label.to_json()}
        fields = [(name, types.get(name, pyarrow.float64())) for name in columns]
        self._schema = pyarrow.schema(fields, metadata)
        self._arrow, self._columns = pyarrow, columns
        self._writer = parquet.ParquetWriter(stream, self._schema)

    def write(self, rows: Sequence[Row]) -> None:
        values = {
            column: [
                _OF_PARQUET[column](row) if column in _OF_PARQUET else getattr(row, column) for row in rows
            ]
            for column in self._columns
        }
        self._writer.write_table(self._arrow.table(values, schema=self._schema))

    def close(self) -> None:
        self._writer.close()


_OF_PARQUET: dict[str, Callable[[Row], Any]] = {
    "input": lambda row: str(row.input),
    NUMBERED: lambda row: isinstance(row.input, int),
}


def _finite(value: Any) -> Any:
    """JSON has no infinity; the flag still says that the input is an outlier."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
