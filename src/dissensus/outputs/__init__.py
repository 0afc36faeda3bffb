"""Rows of results in files, CSV, JSON lines or Parquet; interrupted work is kept, and gone on with."""

from dissensus.outputs.journal import Journal
from dissensus.outputs.labels import DriftStart, PartLabel
from dissensus.outputs.parts import Part, open_part, tables_with_drift, tables_with_fdr, whole
from dissensus.outputs.rows import Row, with_drift, with_fdr
from dissensus.outputs.tally import Tally, Wish
from dissensus.outputs.writers import (
    FORMATS,
    Format,
    RowWriter,
    check_format,
    format_of,
    write_rows,
    writer_of,
    writer_to,
)

__all__ = [
    "FORMATS",
    "DriftStart",
    "Format",
    "Journal",
    "Part",
    "PartLabel",
    "Row",
    "RowWriter",
    "Tally",
    "Wish",
    "check_format",
    "format_of",
    "open_part",
    "tables_with_drift",
    "tables_with_fdr",
    "whole",
    "with_drift",
    "with_fdr",
    "write_rows",
    "writer_of",
    "writer_to",
]
