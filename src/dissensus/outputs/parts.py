"""The rows of shards, read back from the Parquet files that hold them, in the order of the inputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from dissensus.errors import DataError, brief
from dissensus.inputs.tables import require_pyarrow
from dissensus.outputs.journal import PART
from dissensus.outputs.labels import LABEL, NUMBERED, PartLabel
from dissensus.outputs.rows import Row

__all__ = ["Part", "all_p_values", "all_rows", "open_part", "whole"]

LISTED = 5  # shards that a sentence names


@dataclass(frozen=True)
class Part:
    """The file of one shard."""

    path: Path
    label: PartLabel

    def rows(self) -> Iterator[Row]:
        """Its rows, a batch of which is in memory."""
        for batch in self._batches([*self.label.columns, NUMBERED]):
            columns = {name: batch.column(name).to_pylist() for name in batch.schema.names}
            numbered, names = columns.pop(NUMBERED), columns.pop("input")
            inputs = [int(name) if number else name for name, number in zip(names, numbered, strict=True)]
            for name, *values in zip(inputs, *columns.values(), strict=True):
                yield Row(name, **dict(zip(columns, values, strict=True)))

    def p_values(self) -> Iterator[float]:
        """The p-values of all rows that have one."""
        for batch in self._batches(["p_value"]):
            yield from batch.column(0).drop_null().to_pylist()

    def _batches(self, columns: list[str]) -> Iterator[Any]:
        parquet = require_pyarrow(str(self.path))
        try:
            with parquet.ParquetFile(self.path) as file:
                yield from file.iter_batches(PART, columns=columns)
        except Exception as error:  # on damaged bytes the parser raises almost anything
            raise DataError(
                f"{self.path} cannot be read ({brief(error)}): score shard {self.label.shard} of "
                f"{self.label.shards} again"
            ) from error


def open_part(path: Path) -> Part:
    """The part in a file; a DataError if it holds none."""
    parquet = require_pyarrow("reading parts")
    try:
        remarks = parquet.read_schema(path).metadata or {}
    except Exception as error:
        raise DataError(
            f"{path} cannot be read as Parquet ({brief(error)}): score its shard again, or leave it out if "
            "it is no part"
        ) from error
    if LABEL not in remarks:
        raise DataError(f"{path} is no part: parts are what dissensus score --shard writes")
    try:
        return Part(path, PartLabel.from_json(remarks[LABEL]))
    except (ValueError, TypeError) as error:
        raise DataError(
            f"{path} is a part that cannot be read here ({brief(error)}): score its shard again"
        ) from error


def whole(parts: Sequence[Part]) -> list[Part]:
    """The parts in the order of their shards; a DataError unless they are all of one scoring, each once."""
    if not parts:
        raise DataError("there are no parts to merge: name at least one file")
    first, found = parts[0], dict[int, Part]()
    for part in parts:
        _refuse_other(first, part)
        shard = part.label.shard
        if shard in found:
            raise DataError(
                f"{found[shard].path} and {part.path} are both shard {shard} of {part.label.shards}: leave "
                "one of them out"
            )
        found[shard] = part
    shards = first.label.shards
    missing = [str(shard) for shard in range(shards) if shard not in found]
    if missing:
        more = f" and {len(missing) - LISTED} more" if len(missing) > LISTED else ""
        are = "are" if len(missing) > 1 else "is"
        raise DataError(
            f"{'shards' if len(missing) > 1 else 'shard'} {', '.join(missing[:LISTED])}{more} of {shards} "
            f"{are} missing: score {'them' if len(missing) > 1 else 'it'} with --shard {missing[0]}/{shards}"
            f"{' and so on' if len(missing) > 1 else ''}, or name the files too"
        )
    return [found[shard] for shard in range(shards)]


def all_rows(parts: Sequence[Part]) -> Iterator[list[Row]]:
    """All rows in order, in runs as long as those of a scoring that was never divided."""
    rows = chain.from_iterable(part.rows() for part in parts)
    while run := list(islice(rows, PART)):
        yield run


def all_p_values(parts: Sequence[Part]) -> Iterator[float]:
    """The p-values of all inputs that have one."""
    return chain.from_iterable(part.p_values() for part in parts)


def _refuse_other(first: Part, part: Part) -> None:
    """Refuses a part of another scoring, and says what differs."""
    ours, theirs = first.label, part.label
    if theirs.belongs_to(ours):
        return
    both = f"{first.path} and {part.path}"
    if theirs.gate != ours.gate:
        raise DataError(f"{both} are of two gates: merge what one gate scored, and score the rest again")
    if (theirs.listing, theirs.inputs) != (ours.listing, ours.inputs):
        raise DataError(
            f"{both} are of other inputs, or these changed between the two ({ours.inputs} and "
            f"{theirs.inputs} inputs): score all shards of the inputs as they are now"
        )
    if theirs.shards != ours.shards:
        raise DataError(
            f"{both} are of {ours.shards} and of {theirs.shards} shards: merge those of one division"
        )
    raise DataError(f"{both} were scored with different options: score one of them again as the other was")
