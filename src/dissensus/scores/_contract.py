"""What a score is: the contract of all of them, and of those of your own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from dissensus.errors import DataError, SettingsError
from dissensus.own_code import arguments_of
from dissensus.scores._matrix import FloatArray, checked_matrix
from dissensus.scores._measured import MATRIX, Available, Measured, matrix_of

__all__ = ["MatrixScore", "Score", "scored"]


class Score(ABC):
    """What is measured of N inputs in, N numbers out: **higher = more out-of-distribution**.

    A score has a ``name``, a ``description`` and ``__call__``; the rest has a default. One that learns from
    held-out inliers writes ``fit``, and then ``state`` and ``restore``, too, so that it can be saved.
    ``name``, ``description``, ``requires`` and ``least_draws`` are attributes of the class.

    An input's score may depend on that input alone, and not on those it is scored with.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """One short word for reports and files."""

    @property
    @abstractmethod
    def description(self) -> str:
        """What it asks about an input, in words without a full stop: "how far …", "how few …"."""

    @property
    def requires(self) -> tuple[str, ...]:
        """What must be measured: ``"matrix"`` and names of statistics. Nothing else is."""
        return (MATRIX,)

    @property
    def least_draws(self) -> int:
        """How many draws M it takes at least."""
        return 1

    def settled(self, available: Available, *, inliers: int) -> Score:  # noqa: ARG002
        """Return the score for inputs with these statistics, to be fitted on so many inliers: itself.

        A score that chooses its ingredients returns another one here, whose ``config`` holds the choice.
        """
        return self

    @property
    def weighs(self) -> tuple[str, ...]:
        """Statistics, and scores of the matrix, that made-up outliers are asked about before ``fit``.

        None by default.
        """
        return ()

    def weigh(self, inliers: Measured, made_up: Sequence[Measured], /) -> None:  # noqa: B027 for most, nothing
        """Learn from what was measured of inliers, and of the made-up outliers of each kind."""

    def fit(self, measured: Measured, /) -> Self:  # noqa: ARG002
        """Learn from what was measured of inliers, and return self. By default there is nothing to learn."""
        return self

    @abstractmethod
    def __call__(self, measured: Measured, /) -> FloatArray:
        """Return the scores (N,) of N inputs."""

    def parts(self, measured: Measured, /) -> dict[str, FloatArray]:  # noqa: ARG002
        """Return the ingredients (N,) by name, for explanations. By default there are none to show."""
        return {}

    def surprises(self, measured: Measured, /) -> dict[str, FloatArray]:  # noqa: ARG002
        """Return how unusual each ingredient is by itself (N,), in nats, by name. By default: none."""
        return {}

    def state(self) -> dict[str, FloatArray]:
        """Return what was learnt, as named arrays that a file can hold. By default there is nothing."""
        return {}

    def restore(self, state: Mapping[str, FloatArray], /) -> Self:
        """Take back what ``state`` gave, and return self as if fitted."""
        if state:
            raise DataError(f"not the state of {self.name}: it holds {sorted(state)[:9]}; fit again")
        return self

    def config(self) -> dict[str, Any]:
        """Return the constructor's arguments as JSON values. By default: attributes of the same names."""
        return arguments_of(self)

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """Return an unfitted score with the arguments that ``config`` gave."""
        return cls(**config)

    @property
    def learns(self) -> bool:
        """Whether it has to be fitted: whether its class writes ``fit``."""
        return type(self).fit is not Score.fit

    def check_fitted(self, attribute: str) -> None:
        """Refuse to go on where ``fit`` or ``restore`` has not set the attribute yet."""
        if not hasattr(self, attribute):
            raise SettingsError(
                f"the score {self.name} is not fitted; call fit with what was measured of inliers"
            )

    def __repr__(self) -> str:
        try:
            arguments = ", ".join(f"{name}={value!r}" for name, value in self.config().items())
        except SettingsError:
            arguments = "…"
        return f"{type(self).__name__}({arguments})"


class MatrixScore(Score):
    """A pure function of the log-likelihood matrix, (M, N) → (N,), as a score: the class names it.

    The function is given a matrix that was checked, in float64, with each column in one piece in memory. Like
    every score of the package that reads the matrix alone, it may be given the matrix by itself.
    """

    function: Callable[[ArrayLike], FloatArray]

    def __call__(self, measured: Measured | ArrayLike, /) -> FloatArray:
        """Return the scores (N,) for log-likelihoods (M, N)."""
        return type(self).function(checked_matrix(matrix_of(measured), least_draws=self.least_draws))


def scored(score: Score, measured: Measured) -> FloatArray:
    """Return the scores (N,) of what was measured, or an error if the score does not give a number each."""
    values = np.asarray(score(measured))
    if values.shape != (len(measured),) or values.dtype.kind != "f":
        raise DataError(
            f"the score {score.name} must give {len(measured)} floating-point numbers, one an input, and "
            f"gave {values.dtype} of shape {values.shape}"
        )
    if np.isnan(values).any():
        raise DataError(
            f"the score {score.name} of input {int(np.isnan(values).argmax())} is NaN: it must be a number, "
            "or infinite"
        )
    return values.astype(np.float64, copy=False)
