"""Inputs that are neither pictures nor rows of numbers, which only an embedder can read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import DataError
from dissensus.inputs.preprocessor import Prepared
from dissensus.inputs.tables import Table

__all__ = ["Things", "as_things", "records"]


@dataclass(frozen=True)
class Things:
    """A list of anything, or the rows of a table as mappings from column to value."""

    feature_names: tuple[str, ...] | None = None
    """The names of a table's columns."""
    id_column: str | None = None

    shape: tuple[int, ...] = ()
    resize: tuple[int, int] | None = None

    @property
    def kind(self) -> str:
        """``table`` or ``objects``."""
        return "objects" if self.feature_names is None else "table"

    def contract(self) -> dict[str, Any]:
        """Kind and shape; there are no types and ranges."""
        return {"kind": self.kind, "shape": [], "accepts": {"object": "any"}}

    def read(self, inputs: Any) -> Prepared:
        """Return an array (n,) of objects; columns are found by name, and absent ones are None."""
        if self.feature_names is None:
            found = None if isinstance(inputs, Table) else as_things(inputs)
            if found is None:
                raise DataError("this detector takes a list of what its embedder reads: give it one")
            return Prepared(found)
        if not isinstance(inputs, Table):
            raise DataError(
                "this detector takes rows of the named columns "
                f"{', '.join(self.feature_names[:9])}: give it a frame or a table"
            )
        problems = {row: {"": reason} for row, reason in inputs.problems.items()}
        return Prepared(records(inputs, self.feature_names), problems)

    def blank(self, count: int) -> NDArray[Any]:
        """Return None so many times; no embedder is shown these."""
        return np.full(count, None, dtype=object)

    def is_single(self, shape: tuple[int, ...]) -> bool:  # noqa: ARG002
        """Whether it is one thing: never, for one cannot be told from a list of them."""
        return False


def as_things(source: Any) -> NDArray[Any] | None:
    """Return an array (n,) of objects, or None if ``source`` is an array of numbers or no list at all.

    >>> as_things(["a text", "another"]).shape
    (2,)
    >>> as_things([[1, 2], [3, 4]]) is None
    True
    """
    if isinstance(source, list | tuple):
        try:
            array = np.asarray(source)
        except ValueError:  # of different lengths
            array = np.empty(0, object)
        if array.dtype.kind not in "OUST":
            return None
        things: Sequence[Any] = source
    elif getattr(source, "ndim", None) == 1 and np.asarray(source).dtype.kind in "OUST":
        things = np.asarray(source).tolist()
    else:
        return None
    if any(thing is None for thing in things):
        raise DataError(
            f"X holds None, first at {[thing is None for thing in things].index(True)}: leave it out"
        )
    found = np.empty(len(things), dtype=object)
    for place, thing in enumerate(things):  # at once, lists of equal lengths would become another axis
        found[place] = thing
    return found


def records(table: Table, names: Sequence[str]) -> NDArray[Any]:
    """The rows of a table (n,) as mappings from column to value."""
    lists = {name: _values(table, name) for name in names}
    found = np.empty(len(table), dtype=object)
    for row in range(len(table)):
        found[row] = {name: lists[name][row] for name in names}
    return found


def _values(table: Table, name: str) -> list[Any]:
    values = table.columns.get(name)
    if values is None:
        return [None] * len(table)
    return values.tolist() if isinstance(values, np.ndarray) else list(values)
