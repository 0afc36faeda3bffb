"""What a score is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, Self, runtime_checkable

from numpy.typing import ArrayLike

from dissensus.scores._matrix import FloatArray

__all__ = ["FittedScore", "Score"]


class Score(Protocol):
    """A log-likelihood matrix (M, N) in, N scores out; higher = more out-of-distribution."""

    def __call__(self, matrix: ArrayLike, /) -> FloatArray:
        """Scores of shape (N,) for log-likelihoods of shape (M, N)."""
        ...


@runtime_checkable
class FittedScore(Score, Protocol):
    """A score that first learns from held-out inliers; ``isinstance`` tells it from a plain function."""

    def fit(self, matrix: ArrayLike, /) -> Self:
        """Learn from the log-likelihoods (M, N) of inliers and return self."""
        ...

    def state(self) -> dict[str, FloatArray]:
        """What was learnt, as named arrays that a file can hold."""
        ...

    def restore(self, state: Mapping[str, FloatArray], /) -> Self:
        """Take back what ``state`` gave and return self, as if fitted."""
        ...
