"""A detector's decisions about streams of inputs of any length, in bounded memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from dissensus.detector.inputs import chunk_rows, encoded
from dissensus.errors import DataError, SettingsError
from dissensus.inputs import (
    ArrayStream,
    Chunk,
    ImageFolder,
    InputStream,
    JsonLines,
    PictureStream,
    Progress,
    Table,
    TableFile,
    image_suffixes,
    is_table,
    open_inputs,
)
from dissensus.outputs import Row

if TYPE_CHECKING:
    from dissensus.detector.estimator import BayesianVAE

__all__ = ["decide_stream", "one_input", "open_stream", "readable"]


def open_stream(
    gate: BayesianVAE,
    source: Any,
    *,
    id_column: str | None = None,
    resize: tuple[int, int] | None = None,
    progress: Progress | None = None,
) -> InputStream:
    """Whatever stands for inputs as a stream that the detector can be asked about.

    Besides all that a detector is fitted on, this is a ``.jsonl`` file and a binary file object that holds
    JSON lines. ``id_column`` and ``resize`` are for tables and pictures, ``progress`` is for downloads.
    """
    shape, size = gate.input_shape_, resize or gate.resize
    path = Path(source) if isinstance(source, str | Path) and os.path.isfile(source) else None  # noqa: PTH113
    if hasattr(source, "readline") or (path is not None and path.suffix.lower() == ".jsonl"):
        table = gate.table_
        return JsonLines(
            path or source,
            shape=shape,
            columns=None if table is None else table.names,
            id_column=id_column or (None if table is None else table.id_column),
            resize=size,
        )
    if path is not None and is_table(path):
        return _table(gate, path, id_column)
    if path is not None and path.suffix.lower() == ".npy" and resize is None:
        return ArrayStream(path)
    if path is not None and path.suffix.lower() in image_suffixes():
        return _pictures(gate, (path,), path.parent, size)
    inputs = open_inputs(source, size=resize, progress=progress)
    if isinstance(inputs, ImageFolder):
        return _pictures(gate, inputs.paths, inputs.root, size)
    return inputs if isinstance(inputs, TableFile) else ArrayStream(inputs)


def decide_stream(
    gate: BayesianVAE,
    stream: InputStream,
    *,
    on_error: Literal["raise", "skip"] = "raise",
    start: int = 0,
    on_progress: Callable[[str, int, int], None] | None = None,
) -> Iterator[list[Row]]:
    """Rows for all inputs from number ``start`` on, in order, a chunk at a time.

    An input that cannot be scored is an error that names it, or with ``on_error="skip"`` a row that says why.
    """
    if on_error not in ("raise", "skip"):
        raise SettingsError(f"on_error must be 'raise' or 'skip', got {on_error!r}")
    empty = start == 0 and not stream.live
    for chunk in stream.chunks(chunk_rows(gate.input_shape_), start):
        empty = False
        decided, share = _decided(gate, chunk, on_error), chunk.share
        del chunk  # before the next is read
        yield decided
        if on_progress is not None:
            on_progress("scoring", round(1000 * share), 1000)
    if empty:
        raise DataError("X holds no inputs: give at least one")


def one_input(gate: BayesianVAE, stream: InputStream, row: int) -> tuple[str | int, NDArray[Any]]:
    """The name of input number ``row``, and the input itself with an axis (1, …)."""
    chunk = next(iter(stream.chunks(1, row)), None)
    if chunk is None:
        raise DataError(f"X has no row {row}: rows are counted from 0")
    array, _ = readable(gate, chunk, "raise")
    return chunk.names[0], array


def readable(
    gate: BayesianVAE, chunk: Chunk, on_error: Literal["raise", "skip"]
) -> tuple[Any, Mapping[int, str]]:
    """A chunk's inputs as the detector takes them, and by position why some cannot be scored.

    With ``on_error="raise"`` the first of those is an error that names it.
    """
    array, problems = chunk.inputs, chunk.problems
    if isinstance(array, Table):
        array, problems = encoded(gate, array)
    if problems and on_error == "raise":
        position = min(problems)
        raise DataError(f"X cannot be scored at {_called(chunk.names[position])}: {problems[position]}")
    return array, problems


def _decided(gate: BayesianVAE, chunk: Chunk, on_error: Literal["raise", "skip"]) -> list[Row]:
    array, problems = readable(gate, chunk, on_error)
    usable = np.array([position not in problems for position in range(len(chunk.names))])
    if not usable.any():
        return [Row(name, error=problems[position]) for position, name in enumerate(chunk.names)]
    decisions = gate.decide(array if usable.all() else array[usable])
    decided = zip(*(column.tolist() for column in decisions), strict=True)
    return [
        Row(name, *next(decided)) if usable[position] else Row(name, error=problems[position])
        for position, name in enumerate(chunk.names)
    ]


def _called(name: str | int) -> str:
    return f"row {name}" if isinstance(name, int) else name


def _table(gate: BayesianVAE, path: Path, id_column: str | None) -> TableFile:
    known = None if gate.table_ is None else gate.table_.id_column
    if id_column is None and known is not None and known in TableFile(path).columns:
        id_column = known
    return TableFile(path, id_column=id_column)


def _pictures(
    gate: BayesianVAE, paths: tuple[Path, ...], root: Path, size: tuple[int, int] | None
) -> PictureStream:
    if len(gate.input_shape_) != 3:
        raise DataError(f"X is pictures, and this detector takes rows: give it (N, {gate.input_shape_[0]})")
    return PictureStream(paths, root, shape=gate.input_shape_, size=size)
