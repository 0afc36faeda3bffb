"""A fused score with everything that has to be fitted for it: of the matrix, and of other statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from dissensus.errors import DataError, SettingsError
from dissensus.scores._contract import FittedScore, Score
from dissensus.scores._depth import FOLDS, LEAST_FOLDS
from dissensus.scores._fusion import Fusion
from dissensus.scores._matrix import FloatArray, checked_matrix
from dissensus.scores._registry import SCORES, score

__all__ = ["Fused"]


class Fused:
    """The fusion of scores of the matrix, which are made here, with statistics that come from elsewhere.

    ``statistics`` names both: what is in ``SCORES`` is computed from the matrix l (M, N), anything else is
    looked for in ``others``, by name (N,). Scores that have to be fitted are fitted on the same inliers as
    the fusion, which sees them as new ones: each inlier by a score fitted on the other nine tenths.

    >>> rng = np.random.default_rng(0)
    >>> matrix, others = rng.normal(size=(4, 500)), {"length": rng.normal(size=500)}
    >>> fused = Fused(["whitened", "length"], leading=["whitened"]).fit(matrix, others)
    >>> fused(np.array([[0.0], [0.0], [9.0], [-9.0]]), {"length": [0.0]}) > 5
    array([ True])
    """

    def __init__(
        self, statistics: Sequence[str], *, depth: str = "mixture", leading: Sequence[str] = ()
    ) -> None:
        if not set(leading) <= set(statistics):
            raise SettingsError(f"leading={list(leading)} must be some of the statistics {list(statistics)}")
        self.statistics = tuple(statistics)
        self.fusion = Fusion(depth, leading)
        self._scores: dict[str, Score] = {name: score(name) for name in self.statistics if name in SCORES}

    @property
    def least_draws(self) -> int:
        """M must be at least this."""
        return max((SCORES[name].least_draws for name in self._scores), default=1)

    def fit(self, matrix: ArrayLike, others: Mapping[str, ArrayLike]) -> Self:
        """Learn from log-likelihoods (M, n) and other statistics (n,) of inliers."""
        values = checked_matrix(matrix, least_draws=self.least_draws)
        found = self._others(others)
        for name, own in self._scores.items():
            if isinstance(own, FittedScore):
                found[name] = _as_new(name, values)
                own.fit(values)
            else:
                found[name] = own(values)
        self.fusion.fit(found)
        return self

    def __call__(self, matrix: ArrayLike, others: Mapping[str, ArrayLike]) -> FloatArray:
        """Scores (N,) for log-likelihoods (M, N) and other statistics (N,)."""
        return self.fusion(self.parts(matrix, others))

    def parts(self, matrix: ArrayLike, others: Mapping[str, ArrayLike]) -> dict[str, FloatArray]:
        """The statistics that are fused (N,), by name."""
        made = {name: own(matrix) for name, own in self._scores.items()} | self._others(others)
        return {name: made[name] for name in self.statistics}

    def surprises(self, matrix: ArrayLike, others: Mapping[str, ArrayLike]) -> dict[str, FloatArray]:
        """How unusual each of them is by itself (N,), in nats; see :meth:`Fusion.surprises`."""
        found = self.fusion.surprises(self.parts(matrix, others))
        return {name: found[name] for name in self.statistics}

    def state(self) -> dict[str, FloatArray]:
        """What was learnt: arrays ``NAME/…`` of the fitted scores and ``fusion/…``."""
        arrays = {f"fusion/{key}": array for key, array in self.fusion.state().items()}
        for name, own in self._scores.items():
            if isinstance(own, FittedScore):
                arrays |= {f"{name}/{key}": array for key, array in own.state().items()}
        return arrays

    def restore(self, state: Mapping[str, FloatArray]) -> Self:
        """Take back what ``state`` gave, into a fusion of the same statistics."""
        parts: dict[str, dict[str, FloatArray]] = {}
        for key, array in state.items():
            part, _, rest = key.partition("/")
            parts.setdefault(part, {})[rest] = array
        self.fusion.restore(parts.pop("fusion", {}))
        if set(self.fusion.names_) != set(self.statistics):
            raise DataError(
                f"the state is of a fusion of {', '.join(self.fusion.names_)} and not of "
                f"{', '.join(self.statistics)}; fit again"
            )
        for name, own in self._scores.items():
            if isinstance(own, FittedScore):
                own.restore(parts.get(name, {}))
        return self

    def _others(self, others: Mapping[str, ArrayLike]) -> dict[str, FloatArray]:
        """The statistics that are not of the matrix."""
        wanted = [name for name in self.statistics if name not in self._scores]
        missing = [name for name in wanted if name not in others]
        if missing:
            raise DataError(f"the statistic {missing[0]!r} is missing among {', '.join(others) or 'none'}")
        return {name: np.asarray(others[name], dtype=np.float64) for name in wanted}


def _as_new(name: str, matrix: FloatArray) -> FloatArray:
    """A fitted score (n,) of the inliers it is fitted on, as if each were new to it: (M, n) → (n,).

    Each by what was fitted on nine tenths without it, or if they are few on all the others.
    """
    count = matrix.shape[1]
    if count < LEAST_FOLDS:
        return _fitted(name, matrix)(matrix)
    folds, found = np.arange(count) % min(FOLDS, count), np.empty(count)
    for fold in range(min(FOLDS, count)):
        found[folds == fold] = _fitted(name, matrix[:, folds != fold])(matrix[:, folds == fold])
    return found


def _fitted(name: str, matrix: FloatArray) -> Score:
    own = score(name)
    assert isinstance(own, FittedScore)
    return own.fit(matrix)
