"""Rows that are done, on disk from the moment they are, so that a killed process loses none of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from dissensus.errors import not_written
from dissensus.outputs.rows import Row

__all__ = ["Journal"]

PART = 4096  # rows handed out at once


class Journal:
    """A file of finished rows; a new process goes on where an earlier one stopped with the same work.

    ``work`` is a JSON object that says what is worked on: a journal of other work is begun anew. A last line
    that a dying process left unfinished is cut off.
    """

    def __init__(self, path: Path, work: Mapping[str, Any]) -> None:
        self.path = path
        self._header = json.dumps({"rows": 2, "work": work}, sort_keys=True).encode() + b"\n"
        try:
            self.done, whole = self._whole()
            """How many rows there are."""
            self._file = path.open("r+b" if whole else "w+b")
            self._file.truncate(whole)
            self._file.seek(whole)
            if not whole:
                self._put(self._header)
        except OSError as error:
            raise not_written(path, error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def append(self, rows: Sequence[Row]) -> None:
        """Append some more rows; from here on they survive the death of this process."""
        lines = [
            json.dumps([row.input, row.score, row.p_value, row.flagged, row.error, row.notes]).encode()
            + b"\n"
            for row in rows
        ]
        self._put(b"".join(lines))
        self.done += len(rows)

    def rows(self) -> Iterator[list[Row]]:
        """All rows from the first, some at a time."""
        with self.path.open("rb") as file:
            file.readline()
            part = []
            for line in file:
                part.append(Row(*json.loads(line)))
                if len(part) == PART:
                    yield part
                    part = []
            if part:
                yield part

    def remove(self) -> None:
        """Delete the file, which is no longer needed."""
        self.path.unlink(missing_ok=True)
        self._close()

    def _put(self, lines: bytes) -> None:
        try:
            self._file.write(lines)
            self._file.flush()
        except OSError as error:
            raise not_written(self.path, error) from error

    def _close(self) -> None:
        with suppress(OSError):  # what a full disk did not take is tried once more, and was told of
            self._file.close()

    def _whole(self) -> tuple[int, int]:
        """How many rows of the same work there are, and how many bytes they and the first line take."""
        try:
            with self.path.open("rb") as file:
                if file.readline(len(self._header)) != self._header:
                    return 0, 0
                done, end = 0, len(self._header)
                for line in file:
                    if not _is_row(line):
                        break
                    done, end = done + 1, end + len(line)
                return done, end
        except FileNotFoundError:
            return 0, 0


def _is_row(line: bytes) -> bool:
    try:
        return line.endswith(b"\n") and len(json.loads(line)) == 6
    except (ValueError, TypeError, RecursionError):
        return False
