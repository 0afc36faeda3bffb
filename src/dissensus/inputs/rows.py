"""The preprocessor of rows: named columns become numbers, and numbers come on one scale."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import DataError
from dissensus.inputs.cell import Cell, cells_of
from dissensus.inputs.columns import Column, NumberColumn
from dissensus.inputs.keys import listed
from dissensus.inputs.preprocessor import Prepared, Preprocessor
from dissensus.inputs.standardiser import FARTHEST, LEARNT, Standardiser
from dissensus.inputs.surroundings import Surroundings
from dissensus.inputs.table_encoder import TableEncoder
from dissensus.inputs.tables import Table
from dissensus.inputs.validation import axes, check_rows, refuse_not_finite

__all__ = ["RowPreprocessor"]


@dataclass(frozen=True)
class RowPreprocessor(Preprocessor):
    """Rows of D numbers, or of named columns that become D numbers, standardised."""

    pictured: ClassVar[bool] = False

    standardiser: Standardiser
    table: TableEncoder | None = None
    resize: tuple[int, int] | None = None
    surroundings: Surroundings | None = None
    """Training rows, kept to measure how near they are; None: no row is kept."""

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """The shape of one row, (D,)."""
        return self.standardiser.mean.shape

    @property
    def kind(self) -> str:
        """``table`` where columns have names, else ``vectors``."""
        return "vectors" if self.table is None else "table"

    @property
    def id_column(self) -> str | None:  # type: ignore[override]
        """The column that named the training rows, if one did."""
        return None if self.table is None else self.table.id_column

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of a table's own columns."""
        return None if self.table is None else self.table.names

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The names of the D numbers that a table's row becomes."""
        return None if self.table is None else tuple(self.table.features)

    @property
    def table_columns(self) -> list[tuple[Column, slice]]:
        """The table's own columns; of rows without names, the columns' numbers."""
        if self.table is not None:
            return self.table.parts
        places = range(self.shape[0])
        return [(NumberColumn(f"column {place}", 0.0, False), slice(place, place + 1)) for place in places]

    def cells(
        self,
        row: NDArray[Any],
        nats: NDArray[np.float64],
        expected: NDArray[Any],
        nearest: NDArray[Any],
        notes: Sequence[str],
    ) -> tuple[Cell, ...]:
        """Return the row (D,) in the words of the table it is of, if it is of one."""
        return () if self.table is None else cells_of(self.table, row, nats, expected, nearest, notes)

    def contract(self) -> dict[str, Any]:
        """Kind, shape, types and ranges."""
        return {"kind": self.kind, "shape": list(self.shape), "accepts": {"float64": "finite"}}

    def steps(self) -> list[dict[str, Any]]:
        """Return the steps in order: columns encoded if they have names, standardised, cut off."""
        encode = [] if self.table is None else [{"step": "encode columns"}]
        return [*encode, {"step": "standardise"}, {"step": "clip", "to": [-FARTHEST, FARTHEST]}]

    def read(self, inputs: Any) -> Prepared:
        """Rows (n, D) of finite float64; of a detector of named columns, arrays hold them in their order."""
        if isinstance(inputs, Table):
            return self._encoded(inputs)
        if axes(inputs) > 2:
            raise DataError(
                f"X has shape {np.shape(inputs)}, and this detector takes rows: "
                f"give it (N, {self.n_features})"
            )
        rows = check_rows(inputs, numeric=self.table is None)
        if rows.shape[1] != self.n_features:
            raise DataError(
                f"X has {rows.shape[1]} features, but dissensus is expecting {self.n_features} features as "
                "input"
                + (
                    ""
                    if self.table is None
                    else f": give it a table with the columns {listed(self.table.names)}"
                )
            )
        if self.table is None:
            refuse_not_finite(rows)
            return Prepared(rows)
        warnings.warn(
            "X does not have valid feature names, but this detector was fitted with feature names: its "
            "columns are taken in the order they had then",
            UserWarning,
            stacklevel=2,
        )
        named = dict(zip(self.table.names, rows.T, strict=True))
        return self._encoded(Table(named, range(len(rows))))

    def _encoded(self, table: Table) -> Prepared:
        if self.table is None:
            return self._without_names(table)
        rows, remarks = self.table.transform(table)
        # Missing, and never so in training: as far out as what networks learn from is cut off at.
        far = self.standardiser.far_value(LEARNT)
        return Prepared(np.where(np.isnan(rows), far, rows), remarks.problems, remarks.notes)

    def _without_names(self, table: Table) -> Prepared:
        """A frame of numbers, as scikit-learn takes it where the names of columns were not known at fit."""
        columns = list(table.columns.values())
        if not all(isinstance(column, np.ndarray) for column in columns):
            raise DataError(
                "X is a table of named columns, and this detector was fitted on an array without names: give "
                f"it an array (N, {self.n_features})"
            )
        warnings.warn(
            "X has feature names, but this detector was fitted without feature names: its columns are taken "
            "in the order they have",
            UserWarning,
            stacklevel=2,
        )
        return self.read(np.stack(columns, axis=1))

    def transform(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return rows in deviations from the mean, as float32."""
        return self.standardiser(array)

    def inverse(self, seen: NDArray[np.float32], dtype: np.dtype[Any]) -> NDArray[Any]:  # noqa: ARG002
        """Return rows in each column's own units."""
        return self.standardiser.mean + self.standardiser.scale * seen

    @property
    def clip(self) -> float | None:
        """Values are cut off at ten deviations, lest one absurd value runs away with a chain."""
        return LEARNT

    @property
    def wide(self) -> bool:
        """Whether the training rows that are kept were whitened together."""
        return self.surroundings is not None and self.surroundings.whitening is not None

    @property
    def statistic_names(self) -> tuple[str, ...]:
        """The names of statistics by distance to training rows, if these are kept."""
        return () if self.surroundings is None else self.surroundings.NAMES

    def statistics(
        self,
        array: NDArray[Any],
        seen: NDArray[Any],
        *,
        only: Collection[str] | None = None,  # noqa: ARG002 they are made together
    ) -> dict[str, NDArray[np.float64]]:
        """How near, how dense and how probable the training rows make a row (N,), if they are kept."""
        return {} if self.surroundings is None else self.surroundings.of_rows(array, seen)

    def without_training_inputs(self) -> RowPreprocessor:
        """Return the same without what is kept of them."""
        return replace(self, surroundings=None)

    def made_up(self, count: int, random: np.random.Generator) -> NDArray[Any]:
        """Return normal numbers (n, D), as if they were standardised rows."""
        return random.normal(size=(count, *self.shape)).astype(np.float32)

    def blank(self, count: int) -> NDArray[Any]:
        """Return zeros (n, D), which stand for inputs that are missing."""
        return np.zeros((count, *self.shape))

    def is_single(self, shape: tuple[int, ...]) -> bool:
        """Whether it is one row: any list of numbers is, so that a wrong length is refused as a row."""
        return len(shape) == 1

    def config(self) -> dict[str, Any]:
        """JSON values."""
        return super().config() | {"table": None if self.table is None else self.table.to_config()}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Means and scales (D,), and the training rows that are kept."""
        kept = {} if self.surroundings is None else self.surroundings.arrays()
        return {"mean": self.standardiser.mean, "scale": self.standardiser.scale, **kept}
