"""Values of a table that lie absurdly far from the rest of their column, named to whoever fits on them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import InputWarning
from dissensus.inputs.standardiser import far_out

__all__ = ["warn_of_absurd_values"]

ABSURD = 50.0  # times the range of the rest of the column: no unit, and no tail, is that long
NAMED = 3  # of which row, column and value are said


def warn_of_absurd_values(rows: NDArray[Any], names: Sequence[str] | None, *, stacklevel: int) -> None:
    """Warns of values that are absurd in their column of ``rows`` (N, D), with their rows and columns."""
    places = np.argwhere(far_out(rows, ABSURD))
    if not len(places):
        return
    shown = "; ".join(
        f"row {row}, {f'column {column}' if names is None else names[column]}: {rows[row, column]:g}"
        for row, column in places[:NAMED]
    )
    more = f" and {len(places) - NAMED} more" if len(places) > NAMED else ""
    values = "a value that lies" if len(places) == 1 else f"{len(places)} values that lie"
    warnings.warn(
        f"X holds {values} more than {ABSURD:g} times further out than the rest of the column "
        f"({shown}{more}): left out of the column's scale and cut off in training; repair or remove such "
        "rows if they are mistakes",
        InputWarning,
        stacklevel=stacklevel,
    )
