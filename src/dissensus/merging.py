"""From the parts of a sharded scoring to the rows that one process would have written, to the byte."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any

from dissensus.decisions import DriftMonitor, check_discoveries_possible
from dissensus.destination import Destination
from dissensus.errors import DataError
from dissensus.lock import Claim
from dissensus.outputs import (
    Format,
    Part,
    Tally,
    Wish,
    check_format,
    open_part,
    tables_with_drift,
    tables_with_fdr,
    whole,
    writer_of,
)

__all__ = ["merge_parts", "open_parts"]


def open_parts(files: Sequence[Path]) -> list[Part]:
    """The parts in the order of their shards; a DataError unless they are all of one scoring, each once."""
    return whole([open_part(file) for file in files])


def merge_parts(
    parts: Sequence[Part],
    output: Destination,
    format: Format,
    *,
    fdr: float | None = None,
    drift: bool = False,
) -> tuple[Tally, Wish]:
    """Write all rows of the parts, decided together; returns what they add up to, and what was wished for."""
    label = parts[0].label
    if fdr is not None:
        check_discoveries_possible(label.calibration_inputs, fdr)
    check_format(format)
    columns = set(label.columns)
    wish = Wish(fdr, drift, "error" in columns, notes="notes" in columns)
    tally = Tally(monitor=_monitor(parts[0]) if drift else None)
    tables: Iterator[Any]
    if fdr is None:
        tables = chain.from_iterable(part.tables() for part in parts)
    else:
        tables = tables_with_fdr(parts, fdr)
    if tally.monitor is not None:
        tables = tables_with_drift(tables, tally.monitor)
    with ExitStack() as used:
        if output.file is not None:
            used.enter_context(Claim(output.name))
        writer = used.enter_context(writer_of(output, format, wish.columns))
        for table in tables:
            tally.count(table)
            writer.write_table(table)
    return tally, wish


def _monitor(first: Part) -> DriftMonitor:
    """The gate's own monitor at the start of the stream, which the first part keeps."""
    if first.label.drift is None:
        raise DataError(f"{first.path} does not hold the calibration scores: score its shard again")
    return DriftMonitor(first.label.drift.scores(), seed=first.label.drift.seed)
