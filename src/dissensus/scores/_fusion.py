"""Several statistics fused into one score, by where inliers lie and without an example of an outlier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from dissensus.errors import DataError, SettingsError
from dissensus.scores._depth import DEPTHS, Depth
from dissensus.scores._marginal import Marginal, surprise
from dissensus.scores._matrix import FloatArray

__all__ = ["SUM", "Fusion"]

# Both chosen by clusters of training pictures that were left out, and by made-up outliers of the others
# (docs/panel.md). More of the former finds more pictures that are simpler than the inliers and fewer of an
# unknown class; more of the latter the other way round.
SINGLE_WEIGHT = 0.5
LEADING_WEIGHT = 0.5
SUM = "sum"  # the depth that is none


class Fusion:
    r"""One score of several statistics: how few inliers lie as far out, :math:`-\log p` in nats.

    1. Each statistic becomes a normal score by its distribution among inliers, extrapolated beyond them
       (:class:`Marginal`). Its scale and form no longer matter, and a value on either side may be unusual.
    2. The ``depth`` of the point of all normal scores, among those of the inliers, also sees combinations
       that are unusual while no statistic is: ``"gaussian"`` or ``"mixture"``. ``"sum"`` learns no such
       density, which takes hundreds of inliers: it adds up the :math:`-\log p` of the leading statistics and
       the largest of the others', which count on both sides; steps 3 and 4 are left out.
    3. Half the :math:`-\log p` of the most unusual single statistic, high or low, is added: Tippett's way to
       join tests. Among dozens of statistics a density hardly sees one that is far off alone.
    4. With ``leading``, the names of statistics of which *high* values alone are suspicious, half the mean of
       their own :math:`-\log p` is added to the depth's: Fisher's way to join tests, with a weight. A density
       looks in all directions alike; this tells it where outliers are more often found. ``extra`` are
       weights, by name, with which the :math:`-\log p` of high values is added besides, of any statistic.
    5. The sum is again put among that of the inliers, as far as possible each without its own part in it.

    Any statistics will do, whatever their units, tails or correlations. Cost: microseconds an input.

    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=2000)
    >>> inliers = {"a": a, "b": a + 0.1 * rng.normal(size=2000)}
    >>> Fusion("gaussian").fit(inliers)({"a": [0.0, 1.0, 9.0], "b": [0.0, -1.0, 9.0]}).round(0)
    array([ 0., 10.,  8.])
    """

    names_: tuple[str, ...]
    """The statistics, in the order of the alphabet."""

    def __init__(
        self, depth: str = "mixture", leading: Sequence[str] = (), extra: Mapping[str, float] | None = None
    ) -> None:
        if depth not in (*DEPTHS, SUM):
            raise SettingsError(f"there is no depth {depth!r}; choose one of {', '.join((*DEPTHS, SUM))}")
        if isinstance(leading, str):
            raise SettingsError(f"leading={leading!r} must be a list of names: give [{leading!r}]")
        self.depth, self.leading = depth, tuple(leading)
        self.extra = dict(extra or {})
        if depth == SUM and self.extra:
            raise SettingsError(
                f"extra={self.extra} is for a density: a sum counts every leading statistic once"
            )
        if not all(0.0 <= each <= 1.0 for each in self.extra.values()):
            raise SettingsError(f"extra={self.extra} must be weights from 0 to 1 of statistics")

    def fit(self, statistics: Mapping[str, ArrayLike]) -> Self:
        """Learn from the statistics (n,) of inliers, by name, that nothing else was fitted on."""
        names = tuple(sorted(statistics))
        if not names:
            raise SettingsError("fusion needs at least one statistic; name one")
        if absent := [name for name in self.leading if name not in names]:
            raise SettingsError(f"the leading statistic {absent[0]!r} is not among {', '.join(names)}")
        if absent := [name for name in self.extra if name not in names]:
            raise SettingsError(f"the statistic {absent[0]!r} of extra= is not among {', '.join(names)}")
        values = _columns(statistics, names)
        if not len(values):
            raise DataError("fusion needs at least one inlier to fit on, but the statistics are empty")
        self.names_ = names
        self._marginals = {name: Marginal.fit(column) for name, column in zip(names, values.T, strict=True)}
        z = self._normal_scores(values)
        if self.depth == SUM:
            self._sums = Marginal.fit(self._plain_sum(z))
            return self
        self._depth: Depth = DEPTHS[self.depth]()
        distances = self._depth.fit(z)
        self._distances = Marginal.fit(distances)
        self._single = Marginal.fit(_most_unusual(z))
        self._sums = Marginal.fit(self._sum(z, distances))
        return self

    def __call__(self, statistics: Mapping[str, ArrayLike]) -> FloatArray:
        """Scores (N,) for statistics (N,) by name; those that fusion was not fitted on are ignored."""
        self.check_fitted()
        z = self._normal_scores(_columns(statistics, self.names_))
        if not len(z):
            return np.empty(0)
        sums = self._plain_sum(z) if self.depth == SUM else self._sum(z, self._depth(z))
        return surprise(self._sums(sums))

    def surprises(self, statistics: Mapping[str, ArrayLike]) -> dict[str, FloatArray]:
        r"""How unusual each statistic is by itself (N,), by name, in nats.

        :math:`-\log p` with p the share of inliers at least as far out on either side: 0 in the middle. In a
        sum, low values of the leading statistics add nothing, and are 0 here. These do not add up to the
        score: statistics are correlated, and may be unusual only together.
        """
        self.check_fitted()
        z = self._normal_scores(_columns(statistics, self.names_))
        if self.depth == SUM:
            z = np.where(np.isin(self.names_, self.leading), np.maximum(z, 0.0), z)
        return dict(zip(self.names_, _two_sided(z).T, strict=True))

    def state(self) -> dict[str, FloatArray]:
        """What was learnt: arrays ``statistic/NAME/…`` and ``sums/…``.

        With a depth also ``depth/…``, ``distances/…`` and ``single/…``.
        """
        self.check_fitted()
        marginals = {f"statistic/{name}": marginal for name, marginal in self._marginals.items()}
        marginals["sums"] = self._sums
        if self.depth != SUM:
            marginals |= {"distances": self._distances, "single": self._single}
        arrays = {f"{key}/{part}": a for key, m in marginals.items() for part, a in m.arrays().items()}
        if self.depth == SUM:
            return arrays
        return arrays | {f"depth/{part}": array for part, array in self._depth.state().items()}

    def restore(self, state: Mapping[str, FloatArray]) -> Self:
        """Take back what ``state`` gave, into a fusion of the same settings."""
        groups: dict[str, dict[str, FloatArray]] = {}
        for key, array in state.items():
            group, _, part = key.rpartition("/")
            groups.setdefault(group, {})[part] = array
        depth = groups.pop("depth", {})
        learnt = {"sums"} if self.depth == SUM else {"distances", "single", "sums"}
        if not learnt <= set(groups) or not all(
            set(group) == set(Marginal.ARRAYS) for group in groups.values()
        ):
            raise DataError(f"not the state of a fusion: it holds {sorted(state)[:9]}; fit again")
        marginals = {name: Marginal(**arrays) for name, arrays in groups.items()}
        own = {name: marginals.pop(name) for name in learnt}
        names = tuple(sorted(name.removeprefix("statistic/") for name in marginals))
        if not names or not {*self.leading, *self.extra} <= set(names):
            raise DataError(f"the state of a fusion of {', '.join(names) or 'nothing'}; fit again")
        if self.depth != SUM:
            self._restore_depth(depth, len(names))
            self._distances, self._single = own["distances"], own["single"]
        self.names_ = names
        self._marginals = {name: marginals[f"statistic/{name}"] for name in names}
        self._sums = own["sums"]
        return self

    def _restore_depth(self, state: Mapping[str, FloatArray], statistics: int) -> None:
        self._depth = DEPTHS[self.depth]().restore(state)
        try:
            self._depth(np.zeros((1, statistics)))
        except ValueError as error:
            raise DataError(
                f"the state of a fusion of {statistics} statistics is not one; fit again"
            ) from error

    def _normal_scores(self, values: FloatArray) -> FloatArray:
        """(N, J) → (N, J)."""
        columns = [self._marginals[name](x) for name, x in zip(self.names_, values.T, strict=True)]
        return np.stack(columns, axis=1)

    def _sum(self, z: FloatArray, distances: FloatArray) -> FloatArray:
        """How unusual the depth, one statistic and high values are together (N,), of normal scores (N, J)."""
        total = surprise(self._distances(distances))
        if z.shape[1] > 1:  # else it is the depth's again
            total = total + SINGLE_WEIGHT * surprise(self._single(_most_unusual(z)))
        if self.leading:
            leaders = [self.names_.index(name) for name in self.leading]
            total = total + LEADING_WEIGHT * surprise(z[:, leaders]).mean(axis=1)
        for name, weight in self.extra.items():
            total = total + weight * surprise(z[:, self.names_.index(name)])
        return total

    def _plain_sum(self, z: FloatArray) -> FloatArray:
        """The sum (N,) of the leading −log p and the largest of the others', of normal scores (N, J).

        The largest and not the mean: noise shows in the finest details of a picture alone.
        """
        led = np.isin(self.names_, self.leading)
        total: FloatArray = surprise(z[:, led]).sum(axis=1)
        return total if led.all() else total + _most_unusual(z[:, ~led])

    def check_fitted(self) -> None:
        """Refuse to go on unfitted."""
        if not hasattr(self, "names_"):
            raise SettingsError("the fusion is not fitted; call fit with the statistics of inliers")


def _two_sided(z: FloatArray) -> FloatArray:
    """−log P(an inlier lies as far out on either side) in nats, of normal scores of any shape."""
    nats: FloatArray = surprise(np.abs(z)) - np.log(2.0)
    return np.maximum(nats, 0.0)  # in the middle, rounding may be negative


def _most_unusual(z: FloatArray) -> FloatArray:
    """How unusual the most unusual of statistics is (N,), in nats, of normal scores (N, J)."""
    most: FloatArray = _two_sided(z).max(axis=1)
    return most


def _columns(statistics: Mapping[str, ArrayLike], names: tuple[str, ...]) -> FloatArray:
    """The named statistics side by side: (N, J)."""
    missing = [name for name in names if name not in statistics]
    if missing:
        raise DataError(f"the statistic {missing[0]!r} is missing; fusion was fitted on {', '.join(names)}")
    columns = [np.asarray(statistics[name], dtype=np.float64) for name in names]
    for name, column in zip(names, columns, strict=True):
        if column.ndim != 1 or len(column) != len(columns[0]):
            raise DataError(
                f"statistics must be one number an input, but {name!r} is of shape {column.shape} and "
                f"{names[0]!r} of shape {columns[0].shape}"
            )
        if np.isnan(column).any():
            raise DataError(
                f"the statistic {name!r} of input {int(np.isnan(column).argmax())} is NaN; leave that input "
                "out, or that statistic"
            )
    return np.stack(columns, axis=1)
