"""From rows of named columns to rows of numbers, by a rule learnt from the training rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import ArtifactError, DataError
from dissensus.inputs.column_learning import Trouble, described, learn
from dissensus.inputs.columns import LONGEST_NAME, Column, Remarks, column_from_config
from dissensus.inputs.tables import Table

__all__ = ["TableEncoder"]


@dataclass(frozen=True)
class TableEncoder:
    """What each column becomes.

    - A column whose every value in training is a number or missing stays one column of numbers, on its own
      scale. Missing are None, NaN and the empty text, "NA", "N/A", "null", "none" and "?" in any case.
    - A column of dates (ISO 8601, or a frame's own dates) becomes four columns of numbers: year, month,
      weekday (Monday is 0) and hour.
    - A missing number or date becomes the training rows' median. If any was missing in training, a 0/1
      column says so; if none was, it becomes NaN, for which a preprocessor puts what is far out.
    - Every other column holds names, truth values too: a 0/1 column for each that is common in training,
      missing being one of them, one that all rare names share (fewer than 2 rows, or than 1%), and a last
      one, 0 in all of training, for those unseen. At most 50 are common. Names of which most are rare, and
      more than 50, are refused: they are no categories.
    - Columns are found by name: their order means nothing, and columns unknown in training are ignored.

    >>> table = Table({"age": ["30", "", "50"], "pet": ["cat", "dog", "cat"]}, range(3))
    >>> encoder = TableEncoder.fit(table)
    >>> encoder.features
    ['age', 'age is missing', 'pet=cat', 'pet=dog', 'pet is unseen']
    >>> rows, remarks = encoder.transform(Table({"age": ["NA"], "pet": ["eel"]}, [0]))
    >>> rows
    array([[40.,  1.,  0.,  0.,  1.]])
    >>> remarks.notes
    {0: ['pet: eel, never seen']}
    """

    columns: tuple[Column, ...]
    id_column: str | None = None
    """The column that named the training rows; it names the scored ones where they have it."""

    @classmethod
    def fit(cls, table: Table) -> TableEncoder:
        """Learns the rule; columns that cannot be inputs are one error that names them all."""
        if not table.columns:
            raise DataError("X has no column besides those that name or number its rows: add one")
        learnt = [learn(name, values) for name, values in table.columns.items()]
        troubles = [column for column in learnt if isinstance(column, Trouble)]
        if troubles:
            raise DataError(f"X has columns that cannot be learnt from: {described(troubles)}")
        columns = tuple(column for column in learnt if not isinstance(column, Trouble))
        return cls(columns, table.id_column)

    @property
    def features(self) -> list[str]:
        """The names of the D columns of numbers that the table becomes."""
        return [feature for column in self.columns for feature in column.features]

    @property
    def parts(self) -> list[tuple[Column, slice]]:
        """The table's own columns, each with its place among the D columns of numbers."""
        found, start = [], 0
        for column in self.columns:
            end = start + len(column.features)
            found.append((column, slice(start, end)))
            start = end
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the table's own columns."""
        return tuple(column.name for column in self.columns)

    def transform(self, table: Table) -> tuple[NDArray[np.float64], Remarks]:
        """Rows (n, D) and what there is to say about them; what stands in those with problems means nothing.

        NaN stands for what is missing and never was in training.
        """
        absent = [column.name for column in self.columns if column.name not in table.columns]
        if absent:
            lacking = f"column{'s'[: len(absent) != 1]} {', '.join(map(repr, absent))}"
            others = [name for name in table.columns if name not in self.names]
            alike = [name for name in others if get_close_matches(name, absent, 1, 0.75)]
            told = f"; it has {', '.join(map(repr, alike))}: is that meant?" if alike else ""
            raise DataError(f"X lacks the {lacking} that the detector was fitted with{told}")
        remarks = Remarks()
        parts = [column.encode(table.columns[column.name], remarks) for column in self.columns]
        for row in table.problems:  # it has no cells
            remarks.problems[row] = {"": table.problems[row]}
            remarks.notes.pop(row, None)
        return np.concatenate(parts, axis=1), remarks

    def to_config(self) -> dict[str, Any]:
        """JSON values."""
        return {"id_column": self.id_column, "columns": [column.to_config() for column in self.columns]}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> TableEncoder:
        """The inverse of :meth:`to_config`; rules that no table could have led to are an ArtifactError."""
        found = cls(tuple(column_from_config(column) for column in config["columns"]), config["id_column"])
        if not found._is_sound():
            raise ArtifactError(
                "the columns of its table are not what a fit could have learnt: save the gate again"
            )
        return found

    def _is_sound(self) -> bool:
        names = self.names if self.id_column is None else (*self.names, self.id_column)
        return (
            all(isinstance(name, str) and len(name) <= LONGEST_NAME for name in names)
            and len(set(names)) == len(names)
            and all(column.is_sound for column in self.columns)
        )
