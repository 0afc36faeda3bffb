"""A stable division of inputs into shards, each of which can be scored by itself, in any order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sized
from dataclasses import dataclass, replace
from typing import Self

from dissensus.errors import DataError, SettingsError
from dissensus.inputs.chunks import Chunk, InputStream

__all__ = ["Shard", "ShardStream"]

COUNTED = 8192  # inputs read at once where they have to be counted


@dataclass(frozen=True)
class Shard:
    """One of ``count`` runs of inputs, counted from 0.

    >>> [list(Shard(number, 3).of(8)) for number in range(3)]
    [[0, 1], [2, 3, 4], [5, 6, 7]]
    """

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the shard that a person named, such as ``3/64``.

        >>> Shard.parse("3/64")
        Shard(number=3, count=64)
        """
        match = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text.strip())
        if match is None:
            raise SettingsError(f"--shard takes a number and how many there are, as in 3/64, not {text!r}")
        number, count = int(match[1]), int(match[2])
        if number >= count:
            raise SettingsError(
                f"--shard {text}: shards are counted from 0, so the last one is {count - 1}/{count}"
            )
        return cls(number, count)

    def of(self, inputs: int) -> range:
        """The numbers of its inputs: consecutive, and in all shards together each once."""
        return range(inputs * self.number // self.count, inputs * (self.number + 1) // self.count)


class ShardStream:
    """The inputs of one shard of a stream, with the names they have in the whole."""

    live = False

    def __init__(self, stream: InputStream, shard: Shard) -> None:
        if stream.live:
            raise DataError("X comes from a pipe, which has no shards: name a file or a folder")
        self.whole = stream
        self.inputs = _count(stream)
        """N, of all shards."""
        self.range = shard.of(self.inputs)
        if self.inputs < shard.count:
            raise DataError(
                f"X holds {self.inputs} inputs, too few for {shard.count} shards: divide it into at most "
                f"{self.inputs}"
            )

    def __len__(self) -> int:
        return len(self.range)

    def chunks(self, size: int, start: int = 0) -> Iterator[Chunk]:
        """All inputs of the shard from its input number ``start`` on, at most ``size`` at a time."""
        done, total = start, len(self)
        chunks = self.whole.chunks(size, self.range.start + start)
        while done < total:
            chunk = next(chunks, None)
            if chunk is None:
                raise DataError("X has become shorter while it was read: score all of its shards again")
            left = total - done
            done += len(chunk.names)
            if len(chunk.names) > left:
                problems = {at: why for at, why in chunk.problems.items() if at < left}
                chunk = replace(
                    chunk, names=chunk.names[:left], inputs=chunk.inputs[:left], problems=problems
                )
            yield replace(chunk, share=min(done / total, 1.0))
            del chunk  # before the next is read


def _count(stream: InputStream) -> int:
    """How many inputs there are; what does not know is read once."""
    if isinstance(stream, Sized):
        return len(stream)
    return sum(len(chunk.names) for chunk in stream.chunks(COUNTED))
