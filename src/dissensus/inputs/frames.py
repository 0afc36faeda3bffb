"""Frames of pandas, polars and pyarrow as tables of named columns, by way of narwhals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import DataError
from dissensus.inputs.chunks import Chunk
from dissensus.inputs.tables import Table

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["Frame", "frame_of"]

LISTED = 5  # names in a message, as scikit-learn lists them


class Frame:
    """A frame as a stream of inputs; only a chunk of it is ever turned into Python's values.

    ``id_column`` names the rows and is no input, as in files; without one rows are called by their numbers.
    """

    live = False

    def __init__(self, frame: nw.DataFrame[Any], *, id_column: str | None = None) -> None:
        self.frame = frame
        self.id_column = id_column
        repeated = sorted({name for name in frame.columns if frame.columns.count(name) > 1})
        if repeated:
            raise DataError(f"X has two columns named {repeated[0]!r}: rename one")

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of those columns that are inputs."""
        return tuple(name for name in self.frame.columns if name != self.id_column)

    def load(self) -> Table:
        """Return the whole table."""
        return self._table(0, len(self))

    def chunks(self, size: int, start: int = 0) -> Iterator[Chunk]:
        """Yield tables of at most ``size`` rows, from row ``start`` on."""
        for begin in range(start, len(self), size):
            table = self._table(begin, min(begin + size, len(self)))
            yield Chunk(table.names, table, (begin + len(table)) / len(self))

    def known_as(self, names: Sequence[str]) -> None:
        """Refuses a frame that lacks one of these columns, in scikit-learn's words; more of them are fine."""
        missing = sorted(set(names) - set(self.columns))
        if not missing:
            return
        unseen = sorted(set(self.columns) - set(names))
        message = "The feature names should match those that were passed during fit.\n"
        if unseen:
            message += f"Feature names unseen at fit time:\n{_listed(unseen)}"
        raise DataError(f"{message}Feature names seen at fit time, yet now missing:\n{_listed(missing)}")

    def _table(self, begin: int, end: int) -> Table:
        rows = self.frame[begin:end]
        names: list[str | int] = list(range(begin, end))
        if self.id_column is not None:
            ids = _values(rows[self.id_column])
            names = [number if i is None else _id(i) for number, i in zip(names, ids, strict=True)]
        columns = {name: _values(rows[name]) for name in self.columns}
        return Table(columns, names, id_column=self.id_column)


def frame_of(source: Any) -> Frame | None:
    """Return the frame that a person gave, or None if it is something else.

    A pandas frame whose columns are called by numbers is an array to scikit-learn, and here.
    """
    if isinstance(source, np.ndarray | list | tuple | str) or hasattr(source, "detach"):
        return None
    import narwhals as nw

    if nw.dependencies.is_polars_lazyframe(source):
        raise DataError("X is a lazy frame: call its collect() first")
    if nw.dependencies.is_pandas_dataframe(source):
        texts = [isinstance(name, str) for name in source.columns]
        if not any(texts):
            return None
        if not all(texts):
            raise DataError(
                "X has columns whose names are not texts: rename them, as X.columns = X.columns.astype(str)"
            )
        repeated = source.columns[source.columns.duplicated()]
        if len(repeated):
            raise DataError(f"X has two columns named {repeated[0]!r}: rename one")
    frame = nw.from_native(source, eager_only=True, pass_through=True)
    return Frame(frame) if isinstance(frame, nw.DataFrame) else None


def _values(series: nw.Series[Any]) -> Sequence[Any] | NDArray[np.float64]:
    """Numbers as an array in which NaN is a missing one, everything else as Python's values or None."""
    import narwhals as nw

    if series.dtype.is_numeric() and not isinstance(series.dtype, nw.Decimal):
        missing = series.is_null().to_numpy()
        if not missing.any():
            return np.asarray(series.to_numpy(), dtype=np.float64)
        numbers = np.full(len(series), np.nan)
        numbers[~missing] = np.asarray(series.drop_nulls().to_numpy(), dtype=np.float64)
        return numbers
    absent = series.is_null().to_list()
    return [None if gone else value for gone, value in zip(absent, series.to_list(), strict=True)]


def _id(value: Any) -> str | int:
    return value if isinstance(value, str | int) else str(value)


def _listed(names: Sequence[str]) -> str:
    shown = [f"- {name}\n" for name in names[:LISTED]]
    return "".join([*shown, "- ...\n"] if len(names) > LISTED else shown)
