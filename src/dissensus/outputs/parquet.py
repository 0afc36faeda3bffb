"""Rows as Parquet: in groups of a fixed size, so that the same rows are the same bytes, however they came."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, BinaryIO

from dissensus.inputs.tables import require_pyarrow
from dissensus.outputs.labels import LABEL, NUMBERED, PartLabel
from dissensus.outputs.rows import Row

__all__ = ["GROUP", "ParquetRows", "schema_of"]

GROUP = 1 << 17
"""Rows of a group. What is written of a group stays in memory: ten billion rows are some 80,000."""
MADE = 4096  # rows that become a table together: of a stream they come one by one


def schema_of(columns: Sequence[str], label: PartLabel | None = None) -> Any:
    """The types of these columns, as Arrow has them, with a part's label if there is one.

    An input's name is always text, for a column has one type. A part says in a column which were numbers.
    """
    import pyarrow

    text, truth = pyarrow.string(), pyarrow.bool_()
    types = {"input": text, "error": text, "notes": text, "flagged": truth, NUMBERED: truth}
    metadata = None if label is None else {LABEL: label.to_json()}
    return pyarrow.schema([(name, types.get(name, pyarrow.float64())) for name in columns], metadata)


class ParquetRows:
    """Writes rows to a stream of bytes, which is a Parquet file once this is closed."""

    def __init__(self, stream: BinaryIO, columns: Sequence[str], label: PartLabel | None) -> None:
        parquet = require_pyarrow("writing Parquet")
        import pyarrow

        self._arrow = pyarrow
        self._schema = schema_of([*columns, *([] if label is None else [NUMBERED])], label)
        self._writer = parquet.ParquetWriter(stream, self._schema)
        self._rows: list[Row] = []
        self._waiting: list[Any] = []

    def write(self, rows: Sequence[Row]) -> None:
        """Write some more rows."""
        self._rows += rows
        if len(self._rows) >= MADE:
            self._make_table()

    def _make_table(self) -> None:
        rows, self._rows = self._rows, []
        columns: dict[str, list[Any]] = {
            name: [getattr(row, name) for row in rows] for name in self._schema.names if name != NUMBERED
        }
        if NUMBERED in self._schema.names:
            columns[NUMBERED] = [isinstance(name, int) for name in columns["input"]]
        columns["input"] = list(map(str, columns["input"]))
        self.write_table(self._arrow.table(columns, schema=self._schema))

    def write_table(self, table: Any) -> None:
        """Some more rows, as the columns of an Arrow table."""
        if self._rows:
            self._make_table()
        self._waiting.append(table.select(self._schema.names).replace_schema_metadata(self._schema.metadata))
        if sum(map(len, self._waiting)) >= GROUP:
            found = self._arrow.concat_tables(self._waiting)
            whole = len(found) // GROUP * GROUP
            for start in range(0, whole, GROUP):
                self._put(found.slice(start, GROUP))
            self._waiting = [found.slice(whole)]

    def close(self) -> None:
        """Finish the output: no more rows come."""
        if self._rows:
            self._make_table()
        rest = self._arrow.concat_tables(self._waiting) if self._waiting else ()
        if len(rest):
            self._put(rest)
        self._writer.close()

    def _put(self, group: Any) -> None:
        # In one piece: where pieces end would show in the pages.
        self._writer.write_table(group.combine_chunks(), row_group_size=GROUP)
