"""What is wanted besides scores, and what the rows add up to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from dissensus.decisions import DriftMonitor
from dissensus.outputs.labels import PartLabel
from dissensus.outputs.rows import Row, with_drift

__all__ = ["Tally", "Wish"]


@dataclass(frozen=True)
class Wish:
    """What is wanted besides scores."""

    fdr: float | None = None
    """A false discovery rate over all inputs to flag by, instead of the detector's false-alarm rate."""
    drift: bool = False
    """A column with the logarithm of the drift monitor's capital."""
    skip_unreadable: bool = False
    """Rows that say why an input could not be scored, instead of an error."""
    notes: bool = False
    """A column that says what no training input had, such as "country: Mars, never seen"."""

    label: PartLabel | None = None
    """What the rows are a part of, if they are those of one shard; kept in the file, which is Parquet."""

    @property
    def on_error(self) -> Literal["raise", "skip"]:
        """What to do about inputs that cannot be scored."""
        return "skip" if self.skip_unreadable else "raise"

    @property
    def columns(self) -> list[str]:
        """The names of the columns that are written."""
        more = ["notes"] * self.notes + ["drift"] * self.drift + ["error"] * self.skip_unreadable
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

    def count(self, table: Any) -> None:
        """Count the rows of a part, which are the columns of an Arrow table."""
        self.inputs += len(table)
        self.flagged += table.column("flagged").to_pylist().count(True)
        if "error" in table.schema.names:
            self.unreadable += len(table) - table.column("error").null_count
