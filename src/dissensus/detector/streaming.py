"""A detector's decisions about streams of inputs of any length, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from dissensus.detector.inputs import chunk_rows, prepared
from dissensus.detector.measuring import OnProgress
from dissensus.errors import DataError, SettingsError
from dissensus.inputs import InputStream, JsonLines, Prepared
from dissensus.outputs import Row

if TYPE_CHECKING:
    from dissensus.detector.asking import Asking

__all__ = ["decide_stream", "line_by_line", "one_input"]

WHOLE = 1000  # of a stream, as progress counts it


def decide_stream(
    gate: Asking,
    stream: InputStream,
    *,
    on_error: Literal["raise", "skip"] = "raise",
    start: int = 0,
    on_progress: OnProgress | None = None,
) -> Iterator[list[Row]]:
    """Rows for all inputs from number ``start`` on, in order, a chunk at a time.

    An input that cannot be scored is an error that names it, or with ``on_error="skip"`` a row that says why.
    Of JSON lines those before it have their rows first; of files that are one thing, such as a table, those
    that were read with it have none.
    """
    if on_error not in ("raise", "skip"):
        raise SettingsError(f"on_error must be 'raise' or 'skip', got {on_error!r}")
    empty = start == 0 and not stream.live
    before = 0.0
    if on_progress is not None:
        on_progress("scoring", 0, WHOLE)
    for chunk in stream.chunks(chunk_rows(gate.preprocessor_.shape), start):
        empty = False
        found, names, share = prepared(gate.preprocessor_, chunk, "skip"), chunk.names, chunk.share
        del chunk  # before the next is read
        usable = len(names)
        if found.problems and on_error == "raise":
            usable = min(found.problems) if line_by_line(stream) else 0
        if usable:
            yield _decided(gate, names, found, _within(on_progress, before, share))[:usable]
        if usable < len(names):
            found.refuse_problems(names)
        before = share
        if on_progress is not None:
            on_progress("scoring", round(WHOLE * share), WHOLE)
    if empty:
        raise DataError("X holds no inputs: give at least one")


def line_by_line(stream: InputStream) -> bool:
    """Whether each input stands for itself, so that one that is bad costs no other its row."""
    return isinstance(stream, JsonLines)


def one_input(gate: Asking, stream: InputStream, row: int) -> tuple[str | int, Prepared]:
    """The name of input number ``row``, and that input alone, as the detector reads it."""
    chunk = next(iter(stream.chunks(1, row)), None)
    if chunk is None:
        raise DataError(f"X has no row {row}: rows are counted from 0")
    return chunk.names[0], prepared(gate.preprocessor_, chunk, "raise")


def _within(on_progress: OnProgress | None, before: float, after: float) -> OnProgress | None:
    """A callback for the work on one chunk, which takes the stream from one share to the next."""
    if on_progress is None:
        return None

    def told(_: str, done: int, total: int) -> None:
        on_progress("scoring", round(WHOLE * (before + (after - before) * done / max(total, 1))), WHOLE)

    return told


def _decided(
    gate: Asking, names: Sequence[str | int], found: Prepared, on_progress: OnProgress | None
) -> list[Row]:
    reasons, usable = found.reasons, found.usable()
    if not len(usable):
        return [Row(name, error=reasons[position]) for position, name in enumerate(names)]
    decisions = gate.decide(usable, on_progress=on_progress)
    decided = zip(*(column.tolist() for column in decisions), strict=True)
    known = iter(gate.known(usable))
    rows = []
    for position, name in enumerate(names):
        if position in reasons:
            rows.append(Row(name, error=reasons[position]))
        else:
            score, p_value, flagged = next(decided)
            notes = (*found.notes.get(position, ()), *filter(None, [next(known)]))
            rows.append(Row(name, score, p_value, flagged, notes="; ".join(notes) or None))
    return rows
