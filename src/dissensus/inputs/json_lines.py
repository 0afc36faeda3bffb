"""Streams of JSON lines: one input a line, from a file or from a pipe that never ends."""

from __future__ import annotations

import base64
import binascii
import json
import queue
import threading
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import DataError, brief
from dissensus.inputs.chunks import Chunk, as_pixels
from dissensus.inputs.image_file import read_image
from dissensus.inputs.keys import check_keys
from dissensus.inputs.packed_text import UNREADABLE, Bytes, opened
from dissensus.inputs.tables import Table

__all__ = ["JsonLines"]

LONGEST_LINE = 1 << 26
WAITING = 1024  # lines read ahead of a pipe
EXAMPLES = ('{"id": "a", "values": [1, 2]}', '{"id": "a", "image": "<base64 of a picture file>"}')
"""Of a row, and of a picture."""


class JsonLines:
    """Inputs as JSON objects, one a line; empty lines do not count.

    For a model of rows or images a line is ``{"values": …}`` with the numbers (D,), (H, W) or (H, W, C), or
    ``{"image": "…"}`` with the base64 text of a PNG, JPEG or other picture file; for a model of tables
    (``columns`` given) it is a flat object of columns. One that lacks a column cannot be used, for the key
    may be misspelt, unless ``absent_as_missing`` says that absent ones count as missing. ``"id"``, or the
    table's ``id_column``, names the input; without one it is called by its number.

    From a pipe a chunk is whatever has arrived, so that nobody waits for lines yet to come.
    """

    def __init__(
        self,
        source: Path | IO[bytes],
        *,
        shape: tuple[int, ...],
        columns: Sequence[str] | None = None,
        id_column: str | None = None,
        resize: tuple[int, int] | None = None,
        absent_as_missing: bool = False,
    ) -> None:
        self.source = source
        self.live = not isinstance(source, Path)
        self.shape = shape
        self.columns = columns
        self.id_column = id_column or "id"
        self.resize = resize
        self.absent_as_missing = absent_as_missing

    def chunks(self, size: int, start: int = 0) -> Iterator[Chunk]:
        """Arrays of ``shape``, or tables of ``columns``."""
        if not isinstance(self.source, Path):
            yield from self._numbered(_arrived(self.source, size), start, None)
            return
        try:
            with opened(self.source) as found:
                yield from self._numbered(_in_runs(_lines(found.content), size), start, found)
        except UNREADABLE as error:
            raise DataError(f"{self.source} cannot be read as JSON lines ({brief(error)})") from error

    def _numbered(self, runs: Iterator[list[bytes]], start: int, found: Bytes | None) -> Iterator[Chunk]:
        done = 0
        for run in runs:
            numbers = range(done, done + len(run))
            done += len(run)
            if done <= start:
                continue
            fresh = max(0, start - numbers.start)
            yield self._chunk(run[fresh:], numbers[fresh:], 0.0 if found is None else found.share)

    def _chunk(self, lines: list[bytes], numbers: Sequence[int], share: float) -> Chunk:
        names: list[str | int] = list(numbers)
        records: list[dict[str, Any]] = []
        problems: dict[int, str] = {}
        for position, line in enumerate(lines):
            record: dict[str, Any] = {}
            try:
                record = _record(line)
                names[position] = _id(record.get(self.id_column), names[position])
                if self.columns is not None:
                    known, optional = {self.id_column}, self.absent_as_missing
                    check_keys(record, self.columns, ignored=known, absent_as_missing=optional)
            except DataError as error:
                problems[position] = str(error)
            records.append(record)
        if self.columns is not None:
            values = {name: [_scalar(record.get(name)) for record in records] for name in self.columns}
            return Chunk(names, Table(values, names, problems), share, problems)
        array = np.zeros((len(lines), *self.shape))
        for position, record in enumerate(records):
            if position not in problems:
                try:
                    array[position] = self._input(record)
                except DataError as error:
                    problems[position] = str(error)
        return Chunk(names, array, share, problems)

    def _input(self, record: dict[str, Any]) -> NDArray[Any]:
        if "image" in record and len(self.shape) == 3:
            return self._picture(record["image"])
        if "values" not in record:
            kinds = '"values" or "image"' if len(self.shape) == 3 else '"values"'
            raise DataError(f"the object has no {kinds}: a line looks like {EXAMPLES[len(self.shape) == 3]}")
        try:
            values = np.asarray(record["values"])
        except (ValueError, OverflowError) as error:
            raise DataError('"values" are lists of different lengths') from error
        if values.dtype.kind not in "iuf":
            raise DataError('"values" are not all numbers')
        if not np.isfinite(values).all():
            raise DataError('"values" hold NaN or infinite numbers')
        if len(self.shape) == 1:
            if values.shape != self.shape:
                raise DataError(f'"values" have shape {values.shape} and {self.shape} was expected')
            return values
        if values.ndim not in (2, 3):
            raise DataError(f'"values" have shape {values.shape} and {self.shape} was expected')
        pixels = as_pixels(values, self.shape, name='"values"')
        most = 255 if pixels.dtype.kind in "iu" else 1
        if pixels.min() < 0 or pixels.max() > most:
            raise DataError('"values" of a picture must be integers in 0..255 or fractions in [0, 1]')
        return pixels / most

    def _picture(self, text: Any) -> NDArray[Any]:
        try:
            content = base64.b64decode(text, validate=True)
        except (TypeError, ValueError, binascii.Error) as error:
            raise DataError('"image" is no base64 text of a picture file') from error
        picture = read_image(BytesIO(content), size=self.resize, channels=3 if self.shape[2] == 3 else None)
        return as_pixels(picture, self.shape, name="the picture") / 255


def _record(line: bytes) -> dict[str, Any]:
    if len(line) >= LONGEST_LINE:
        raise DataError(f"the line is longer than {LONGEST_LINE >> 20} MiB")
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:  # which counts lines, and here there is one
        raise DataError(f"the line is no JSON ({error.msg} at character {error.pos + 1})") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"the line is no JSON ({error})") from error
    if not isinstance(record, dict):
        raise DataError('the line is no JSON object such as {"id": "a", "values": [1, 2]}')
    return record


def _id(value: Any, number: str | int) -> str | int:
    if value is None:
        return number
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    text = value if isinstance(value, str) else json.dumps(value)
    return text.encode("utf-8", "backslashreplace").decode()  # JSON can spell what is no text


def _scalar(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict | list) else value


def _lines(stream: IO[bytes]) -> Iterator[bytes]:
    """Lines that are not empty; of one that is far too long only the beginning."""
    while line := stream.readline(LONGEST_LINE):
        rest = line
        while len(rest) == LONGEST_LINE and not rest.endswith(b"\n"):
            rest = stream.readline(LONGEST_LINE)
        if line.strip():
            yield line


def _in_runs(lines: Iterator[bytes], size: int) -> Iterator[list[bytes]]:
    run = []
    for line in lines:
        run.append(line)
        if len(run) == size:
            yield run
            run = []
    if run:
        yield run


def _arrived(stream: IO[bytes], size: int) -> Iterator[list[bytes]]:
    """Runs of those lines that are there already, at least one; a thread waits for more meanwhile."""
    waiting: queue.Queue[bytes | BaseException | None] = queue.Queue(WAITING)

    def read() -> None:
        try:
            for line in _lines(stream):
                waiting.put(line)
        except BaseException as error:  # whatever it is, the other thread must hear of it
            waiting.put(error)
        else:
            waiting.put(None)

    # A daemon: it may wait for ever on a pipe that nobody closes.
    threading.Thread(target=read, daemon=True).start()
    end: bytes | BaseException | None = b""
    while isinstance(end, bytes):
        run = []
        end = waiting.get()
        while isinstance(end, bytes):
            run.append(end)
            if len(run) == size or waiting.empty():
                break
            end = waiting.get()
        if run:
            yield run
    if end is not None:
        raise end
