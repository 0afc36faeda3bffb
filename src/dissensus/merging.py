"""From the parts of a sharded scoring to the rows that one process would have written, to the byte."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

from dissensus.decisions import DriftMonitor, check_discoveries_possible
from dissensus.destination import Destination
from dissensus.errors import DataError
from dissensus.lock import Claim
from dissensus.outputs import (
    Format,
    Part,
    Row,
    all_p_values,
    all_rows,
    check_format,
    open_part,
    whole,
    with_fdr,
    write_rows,
)
from dissensus.scoring import Tally, Wish

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
    rows: Iterable[Sequence[Row]] = all_rows(parts)
    if fdr is not None:
        rows = with_fdr(rows, all_p_values(parts), fdr)
    with ExitStack() as claimed:
        if output.file is not None:
            claimed.enter_context(Claim(output.name))
        write_rows(output, format, wish.columns, tally.counting(rows))
    return tally, wish


def _monitor(first: Part) -> DriftMonitor:
    """The gate's own monitor at the start of the stream, which the first part keeps."""
    if first.label.drift is None:
        raise DataError(f"{first.path} does not hold the calibration scores: score its shard again")
    return DriftMonitor(first.label.drift.scores(), seed=first.label.drift.seed)
