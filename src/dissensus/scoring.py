"""From a detector and a stream of inputs to a file or a stream of rows, one row for each input."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from dissensus.data import InputStream
from dissensus.decisions import DriftMonitor, check_discoveries_possible
from dissensus.detector import BayesianVAE, OnProgress
from dissensus.detector.streaming import decide_stream
from dissensus.errors import DissensusError, SettingsError
from dissensus.outputs import Format, Journal, Row, RowWriter, check_format, with_drift, with_fdr, write_file

__all__ = ["Tally", "Wish", "partial_file", "score_to_file", "score_to_writer"]


@dataclass(frozen=True)
class Wish:
    """What is wanted besides scores."""

    fdr: float | None = None
    """A false discovery rate over all inputs to flag by, instead of the detector's false-alarm rate."""
    drift: bool = False
    """A column with the logarithm of the drift monitor's capital."""
    skip_unreadable: bool = False
    """Rows that say why an input could not be scored, instead of an error."""

    @property
    def on_error(self) -> Literal["raise", "skip"]:
        """What to do about inputs that cannot be scored."""
        return "skip" if self.skip_unreadable else "raise"

    @property
    def columns(self) -> list[str]:
        """The names of the columns that are written."""
        more = ["drift"] * self.drift + ["error"] * self.skip_unreadable
        return ["input", "score", "p_value", "flagged", *more]


@dataclass
class Tally:
    """What the rows add up to."""

    inputs: int = 0
    flagged: int = 0
    unreadable: int = 0
    monitor: DriftMonitor | None = None
    """As it stands after the last input, if it was wished for."""

    def counting(self, parts: Iterable[Sequence[Row]]) -> Iterator[Sequence[Row]]:
        """The same rows, with the drift monitor's answers, counted as they pass."""
        for rows in parts if self.monitor is None else with_drift(parts, self.monitor):
            self.inputs += len(rows)
            self.flagged += sum(row.flagged is True for row in rows)
            self.unreadable += sum(row.error is not None for row in rows)
            yield rows


def score_to_writer(
    gate: BayesianVAE,
    stream: InputStream,
    writer: RowWriter | None,
    wish: Wish,
    *,
    on_progress: OnProgress | None = None,
) -> Tally:
    """Writes each row as soon as it is known, or with no writer only counts; good for endless streams."""
    if wish.fdr is not None:
        raise SettingsError("a false discovery rate is over all inputs: it cannot be had row by row")
    tally = Tally(monitor=gate.drift_monitor() if wish.drift else None)
    for rows in tally.counting(decide_stream(gate, stream, on_error=wish.on_error, on_progress=on_progress)):
        if writer is not None:
            writer.write(rows)
    if writer is not None:
        writer.close()
    return tally


def score_to_file(
    gate: BayesianVAE,
    stream: InputStream,
    output: Path,
    format: Format,
    wish: Wish,
    *,
    work: Mapping[str, Any],
    on_progress: OnProgress | None = None,
) -> Tally:
    """Writes all rows to ``output``, which is left as it was until they are all there.

    Rows that are done are kept in ``.NAME.partial`` beside it. If the process is interrupted or killed, the
    same call goes on from there, as long as ``work``, which should tell gate and inputs from all others, is
    the same. A pipe cannot be gone on with: there an interruption is its end, and the rows are written.
    """
    if wish.fdr is not None:
        check_discoveries_possible(len(gate.calibration_scores_), wish.fdr)
    check_format(format)
    with Journal(partial_file(output), {**work, "skip": wish.skip_unreadable}) as journal:
        interrupted = False
        try:
            for rows in decide_stream(
                gate, stream, on_error=wish.on_error, start=journal.done, on_progress=on_progress
            ):
                journal.append(rows)
        except DissensusError:
            journal.remove()  # the same call would end here again
            raise
        except KeyboardInterrupt:
            if not stream.live:
                raise
            interrupted = True
        tally = _finish(gate, journal, output, format, wish)
        journal.remove()
    if interrupted:
        raise KeyboardInterrupt
    return tally


def _finish(gate: BayesianVAE, journal: Journal, output: Path, format: Format, wish: Wish) -> Tally:
    """Writes the rows of a journal to the file they are for."""
    tally = Tally(monitor=gate.drift_monitor() if wish.drift else None)
    parts: Iterable[Sequence[Row]] = journal.rows()
    if wish.fdr is not None:
        p_values = [row.p_value for rows in journal.rows() for row in rows if row.p_value is not None]
        parts = with_fdr(parts, p_values, wish.fdr)
    write_file(output, format, wish.columns, tally.counting(parts))
    return tally


def partial_file(output: Path) -> Path:
    """Where rows that are done are kept until all are.

    >>> partial_file(Path("out/rows.csv")).as_posix()
    'out/.rows.csv.partial'
    """
    return output.with_name(f".{output.name}.partial")
