"""The rows of shards, read back from the Parquet files that hold them, in the order of the inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dissensus.decisions import DriftMonitor, discovery_limit
from dissensus.errors import DataError, brief
from dissensus.inputs.tables import require_pyarrow
from dissensus.outputs.labels import LABEL, NUMBERED, PartLabel
from dissensus.outputs.parquet import schema_of

__all__ = ["Part", "open_part", "tables_with_drift", "tables_with_fdr", "whole"]

READ = 1 << 16  # rows that are in memory at once
LISTED = 5  # shards that a sentence names


@dataclass(frozen=True)
class Part:
    """The file of one shard."""

    path: Path
    label: PartLabel

    def tables(self) -> Iterator[Any]:
        """Its rows as Arrow tables, one of which is in memory."""
        return self._tables([*self.label.columns, NUMBERED])

    def p_values(self) -> Iterator[NDArray[np.float64]]:
        """The p-values of all rows that have one, some at a time."""
        for table in self._tables(["p_value"]):
            yield table.column(0).drop_null().to_numpy()

    def _tables(self, columns: list[str]) -> Iterator[Any]:
        parquet = require_pyarrow(str(self.path))
        import pyarrow

        try:
            with parquet.ParquetFile(self.path) as file:
                for batch in file.iter_batches(READ, columns=columns):
                    yield pyarrow.Table.from_batches([batch]).cast(schema_of(columns))
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


def tables_with_fdr(parts: Sequence[Part], fdr: float) -> Iterator[Any]:
    """The rows of all parts, flagged by Benjamini–Hochberg over the p-values of all of them together."""
    from pyarrow import compute

    occurring: Counter[float] = Counter()
    for part in parts:
        for p_values in part.p_values():
            values, counts = np.unique(p_values, return_counts=True)
            occurring.update(dict(zip(values.tolist(), counts.tolist(), strict=True)))
    limit = discovery_limit(list(occurring), list(occurring.values()), fdr)
    for part in parts:
        for table in part.tables():
            at = table.schema.get_field_index("flagged")
            yield table.set_column(at, "flagged", compute.less_equal(table.column("p_value"), limit))


def tables_with_drift(tables: Iterable[Any], monitor: DriftMonitor) -> Iterator[Any]:
    """The same rows with the monitor's answer; those without a score do not move it."""
    import pyarrow

    for table in tables:
        scores = table.column("score").to_numpy()
        known = ~table.column("score").is_null().to_numpy()
        drift = np.zeros(len(scores))
        drift[known] = monitor.update(scores[known])
        yield table.append_column("drift", pyarrow.array(drift, mask=~known))


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
