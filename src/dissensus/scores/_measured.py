"""What is measured of inputs, and what scores are made of: numbers, whatever model they came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dissensus.errors import DataError
from dissensus.scores._matrix import FloatArray

__all__ = ["MATRIX", "Available", "Measured", "matrix_of"]

MATRIX = "matrix"
"""The name of the log-likelihood matrix among what a score may require."""


class Available(NamedTuple):
    """The names of the statistics that can be measured of some inputs."""

    of_draws: tuple[str, ...] = ()
    """What the drawn models tell beside the likelihood."""
    of_inputs: tuple[str, ...] = ()
    """What the inputs tell without any model."""
    wide: bool = False
    """Whether inputs are long rows or embeddings, which are measured in whitened columns."""

    @property
    def names(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.of_draws, *self.of_inputs)


class Measured:
    """The log-likelihood matrix (M, N) of N inputs and their statistics (N,) by name, as far as measured.

    >>> measured = Measured([[-3.0, -1.0], [-2.0, -1.0]], {"length": [7.0, 8.0]})
    >>> len(measured), measured.draws, measured.statistic("length")
    (2, 2, array([7., 8.]))
    >>> measured.select([1]).matrix
    array([[-1.],
           [-1.]])
    """

    def __init__(
        self, matrix: ArrayLike | None = None, statistics: Mapping[str, ArrayLike] | None = None
    ) -> None:
        self._matrix = None if matrix is None else np.asarray(matrix)
        self.statistics: Mapping[str, FloatArray] = {
            name: np.asarray(values, dtype=np.float64) for name, values in (statistics or {}).items()
        }
        """Statistics (N,) by name."""
        sizes = {name: values.shape for name, values in self.statistics.items()}
        if self._matrix is not None and self._matrix.ndim == 2:
            sizes[MATRIX] = self._matrix.shape[1:]
        if len(set(sizes.values())) > 1 or any(len(size) != 1 for size in sizes.values()):
            raise DataError(f"what is measured must be one number an input, but the shapes are {sizes}")
        self._size = next(iter(sizes.values()), (0,))[0]

    @classmethod
    def together(cls, parts: Sequence[Measured]) -> Measured:
        """What was measured of several lots of inputs, as that of all of them in a row."""
        if len(parts) == 1:
            return parts[0]
        matrices = [part.matrix for part in parts if part._matrix is not None]
        return cls(
            np.concatenate(matrices, axis=1) if matrices else None,
            {name: np.concatenate([part.statistics[name] for part in parts]) for name in parts[0].statistics},
        )

    @property
    def matrix(self) -> NDArray[Any]:
        """Log-likelihoods l[m, n] = log p(x_n | θ_m): (M, N)."""
        if self._matrix is None:
            raise DataError(
                f"the log-likelihood matrix was not measured: a score that reads it must name {MATRIX!r} in "
                "`requires`"
            )
        return self._matrix

    @property
    def draws(self) -> int:
        """M, or 0 where the matrix was not measured."""
        return 0 if self._matrix is None else len(self._matrix)

    @property
    def names(self) -> tuple[str, ...]:
        """What there is: ``"matrix"``, if it was measured, and the names of the statistics."""
        return (*(() if self._matrix is None else (MATRIX,)), *self.statistics)

    def statistic(self, name: str) -> FloatArray:
        """The statistic of that name (N,), or an error that says which there are."""
        if name not in self.statistics:
            there = ", ".join(self.statistics) or "none"
            raise DataError(
                f"the statistic {name!r} is missing among {there}: a score must name what it reads in "
                "`requires`"
            )
        return self.statistics[name]

    def select(self, inputs: Any) -> Measured:
        """Return the same of some inputs, chosen by a slice, by numbers or by a mask."""
        matrix = None if self._matrix is None else self._matrix[:, inputs]
        return Measured(matrix, {name: values[inputs] for name, values in self.statistics.items()})

    def __len__(self) -> int:
        return int(self._size)

    def __repr__(self) -> str:
        named = ", ".join(self.statistics) or "no statistics"
        return f"Measured({self.draws} draws, {len(self)} inputs; {named})"


def matrix_of(measured: Measured | ArrayLike) -> ArrayLike:
    """The matrix (M, N), also where it was given by itself."""
    return measured.matrix if isinstance(measured, Measured) else measured
