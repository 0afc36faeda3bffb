"""From a detector and a stream of inputs to rows in a file or a stream, one row for each input."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dissensus.decisions import check_discoveries_possible
from dissensus.destination import Destination
from dissensus.detector import Detector, OnProgress
from dissensus.detector.streaming import decide_stream, line_by_line
from dissensus.errors import DataError, DissensusError, OutputError
from dissensus.inputs import InputStream
from dissensus.lock import Claim
from dissensus.outputs import (
    Format,
    Journal,
    Row,
    Tally,
    Wish,
    check_format,
    with_fdr,
    write_rows,
    writer_of,
)

__all__ = ["partial_file", "score_to_output"]


def score_to_output(
    gate: Detector,
    stream: InputStream,
    output: Destination,
    format: Format,
    wish: Wish,
    *,
    work: Mapping[str, Any],
    on_progress: OnProgress | None = None,
) -> Tally:
    """Writes all rows to what a person named.

    A pipe or a device gets each row as soon as it is known, or with a false discovery rate all at the end.

    A file is left as it was until all rows are there. Rows that are done are kept in ``.NAME.partial`` beside
    it. If the process is interrupted or killed, the same call goes on from there, as long as ``work``, which
    should tell gate and inputs from all others, is the same. Inputs from a pipe cannot be gone on with: there
    an interruption is their end, and the rows before it are written.

    An input that cannot be scored leaves a file as it was, but for JSON lines: of these the rows before it
    are written, and the error says how many and where.
    """
    if wish.fdr is not None:
        check_discoveries_possible(len(gate.calibration_scores_), wish.fdr)
    check_format(format)
    if output.file is not None:
        with Claim(output.name):
            kept = partial_file(output.file)
            return _by_way_of(kept, gate, stream, output, format, wish, work, on_progress)
    if wish.fdr is None:
        return _as_they_come(gate, stream, output, format, wish, on_progress)
    with tempfile.TemporaryDirectory(prefix="dissensus-") as folder:
        return _by_way_of(Path(folder, "rows"), gate, stream, output, format, wish, work, on_progress)


def _as_they_come(
    gate: Detector,
    stream: InputStream,
    output: Destination,
    format: Format,
    wish: Wish,
    on_progress: OnProgress | None,
) -> Tally:
    """Writes each row as soon as it is known: good for endless streams."""
    tally = Tally(monitor=gate.drift_monitor() if wish.drift else None)
    parts = decide_stream(gate, stream, on_error=wish.on_error, on_progress=on_progress)
    with writer_of(output, format, wish.columns) as writer:
        try:
            for rows in tally.counting(parts):
                writer.write(rows)
        except KeyboardInterrupt:
            if stream.live:
                writer.close()  # it is the end of the inputs, and of what the rows are written to
            raise
    return tally


def _by_way_of(
    kept: Path,
    gate: Detector,
    stream: InputStream,
    output: Destination,
    format: Format,
    wish: Wish,
    work: Mapping[str, Any],
    on_progress: OnProgress | None,
) -> Tally:
    """Keeps rows that are done in a journal, and writes them all when they are all there."""
    with Journal(kept, {**work, "skip": wish.skip_unreadable}) as journal:
        ended: BaseException | None = None
        try:
            for rows in decide_stream(
                gate, stream, on_error=wish.on_error, start=journal.done, on_progress=on_progress
            ):
                journal.append(rows)
        except OutputError:
            raise  # once there is space again, the same call goes on
        except DissensusError as error:
            if not (line_by_line(stream) and journal.done):
                journal.remove()  # the same call would end here again
                raise
            ended = error
        except KeyboardInterrupt as error:
            if not stream.live:
                raise
            ended = error
        tally = _finish(gate, journal, output, format, wish)
        journal.remove()
    if isinstance(ended, DataError) and output.file is not None:
        raise DataError(f"{ended}; {output.name} holds the {journal.done} rows before it") from ended
    if ended is not None:
        raise ended
    return tally


def _finish(gate: Detector, journal: Journal, output: Destination, format: Format, wish: Wish) -> Tally:
    """Writes the rows of a journal to the output they are for."""
    tally = Tally(monitor=gate.drift_monitor() if wish.drift else None)
    parts: Iterable[Sequence[Row]] = journal.rows()
    if wish.fdr is not None:
        p_values = (row.p_value for rows in journal.rows() for row in rows if row.p_value is not None)
        parts = with_fdr(parts, p_values, wish.fdr)
    write_rows(output, format, wish.columns, tally.counting(parts), label=wish.label)
    return tally


def partial_file(output: Path) -> Path:
    """Where rows that are done are kept until all are.

    >>> partial_file(Path("out/rows.csv")).as_posix()
    'out/.rows.csv.partial'
    """
    return output.with_name(f".{output.name}.partial")
