"""What was said about each input, as rows in files: written in parts, kept while the work is interrupted."""

from dissensus.outputs.journal import Journal
from dissensus.outputs.labels import DriftStart, PartLabel
from dissensus.outputs.parts import Part, all_p_values, all_rows, open_part, whole
from dissensus.outputs.rows import Row, with_drift, with_fdr
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
    "all_p_values",
    "all_rows",
    "check_format",
    "format_of",
    "open_part",
    "whole",
    "with_drift",
    "with_fdr",
    "write_rows",
    "writer_of",
    "writer_to",
]
