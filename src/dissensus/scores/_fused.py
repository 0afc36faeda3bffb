"""The fused score: several scores and statistics, with everything that has to be fitted for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from dissensus.errors import DataError, SettingsError
from dissensus.scores._contract import Score
from dissensus.scores._depth import FOLDS, LEAST_FOLDS
from dissensus.scores._fusion import SUM, Fusion
from dissensus.scores._matrix import FloatArray
from dissensus.scores._measured import Available, Measured
from dissensus.scores._registry import SCORES, score
from dissensus.scores._weighing import weight

__all__ = ["Fused"]


class Fused(Score):
    """The fusion of scores, which are made here, with statistics that come from elsewhere.

    ``statistics`` names both: what is in ``SCORES`` is made of what it requires, anything else is a statistic
    that is measured. Scores that learn are fitted on the same inliers as the fusion, which sees them as new
    ones: each inlier by a score fitted on the other nine tenths.

    Without ``statistics``, what is fused is settled when it is known which there are, and how many inliers to
    learn from. Where training rows are kept, it is the sum of :attr:`SURROUNDED`, or of long rows and
    embeddings that of :attr:`SURROUNDED_WIDE`. Else, of :attr:`FEW` and more, it is the density of
    :attr:`PARTS` and of all that the inputs tell without a model; of fewer, the sum of :attr:`FEW_LEADING`
    and of the latter.

    >>> rng = np.random.default_rng(0)
    >>> inliers = Measured(rng.normal(size=(4, 500)), {"length": rng.normal(size=500)})
    >>> fused = Fused(["whitened", "length"], leading=["whitened"]).fit(inliers)
    >>> fused(Measured(np.array([[0.0], [0.0], [9.0], [-9.0]]), {"length": [0.0]})) > 5
    array([ True])
    """

    name = "fused"

    PARTS = (
        "whitened",
        "corrected-ll",
        "kl",
        "mean-ll",
        "latent-norm",
        "latent-scale",
        "reconstruction",
        "reconstruction-spread",
        "pixel-variance",
    )
    # `isolation` is there where training pictures are kept, and leads. Without them `corrected-ll` does, of
    # which only high values are suspicious: of pictures that are simpler than the inliers they are low.
    # Both were chosen by clusters of training pictures that were left out, and by made-up outliers of the
    # others (`docs/panel.md`), and so was what is weighed.
    DEPTH, LEADING, LEADING_ALONE = "mixture", ("isolation",), ("corrected-ll",)
    WEIGHED = ("isolation", "mean-ll")

    # A density of many statistics takes inliers to learn: fitted on fewer than these, it is noise. The two
    # were chosen by the mean AUROC of such sums over 40 tables and sets of embeddings with at most 250
    # inliers.
    FEW = 300
    FEW_LEADING = ("mixture-ll", "corrected-ll", "isolation")

    # Where training rows are kept (of tables and embeddings), whatever the number of inliers: each counts on
    # its high side alone, and nothing is learnt but its own distribution, which a few dozen inliers show.
    # Of long rows and embeddings the likelihood makes the sum worse, of others it makes it better: chosen by
    # random halves of 40 tables and sets of embeddings (`python -m benchmarks tables --select`).
    SURROUNDED = ("nearest", "isolation", "gaussians", "mean-ll")
    SURROUNDED_WIDE = ("nearest", "isolation", "gaussians")

    def __init__(
        self,
        statistics: Sequence[str] | None = None,
        *,
        depth: str = DEPTH,
        leading: Sequence[str] = (),
        extra: Mapping[str, float] | None = None,
    ) -> None:
        names = () if statistics is None else tuple(statistics)
        unusable = [name for name in names if not isinstance(name, str) or name == self.name]
        if unusable or isinstance(statistics, str):
            wrong = str(statistics if isinstance(statistics, str) else unusable[0])[:99]
            raise SettingsError(f"statistics must be names of scores or statistics, and {wrong!r} is not one")
        if not set(leading) <= set(names):
            raise SettingsError(f"leading={list(leading)} must be some of the statistics {list(names)}")
        self.statistics = None if statistics is None else names
        if not set(extra or ()) <= set(names):
            raise SettingsError(f"extra={dict(extra or {})} must be weights of some of {list(names)}")
        self.fusion = Fusion(depth, leading, extra)
        self._weights_given = extra is not None
        self._scores = {name: score(name) for name in names if name in SCORES}

    @property
    def description(self) -> str:
        """What it asks, and of which statistics once they are settled."""
        if self.statistics is None:
            return "how few normal inputs are as unusual in all statistics together"
        if self.fusion.depth == SUM:
            leading = _listed(self.fusion.leading)
            others = [name for name in self.statistics if name not in self.fusion.leading]
            return (
                "how few normal inputs are as unusual (-log p, in nats). It adds up how unusual each of "
                f"these is: high values of {leading}"
                + (f"; and, high or low, the most unusual of {', '.join(others)}" if others else "")
            )
        more = [name for name, share in self.fusion.extra.items() if share]
        counted = tuple(dict.fromkeys([*self.fusion.leading, *more]))
        return (
            "how few normal inputs are as unusual (-log p, in nats), by the density of all of "
            f"{', '.join(self.statistics)}"
            + (f", high values of {_listed(counted)} counting more" if counted else "")
        )

    @property
    def requires(self) -> tuple[str, ...]:
        """What its scores require, and its other statistics; nothing is known before they are settled."""
        needed = [name for own in self._scores.values() for name in own.requires]
        return tuple(dict.fromkeys([*needed, *self._others]))

    @property
    def least_draws(self) -> int:
        """What its scores take; before they are settled, those of a density."""
        names = self.PARTS if self.statistics is None else self._scores
        return max((score(name).least_draws for name in names if name in SCORES), default=1)

    def settled(self, available: Available, *, inliers: int) -> Fused:
        """Return the recommended fusion, unless it was said what is to be fused."""
        if self.statistics is not None:
            return self

        def there(names: Sequence[str]) -> tuple[str, ...]:
            return tuple(name for name in names if name in (*SCORES, *available.names))

        if self.SURROUNDED[0] in available.of_inputs:
            names = there(self.SURROUNDED_WIDE if available.wide else self.SURROUNDED)
            return Fused(names, depth=SUM, leading=names)
        if inliers >= self.FEW:
            names = (*there(self.PARTS), *available.of_inputs)
            leading = there(self.LEADING) or there(self.LEADING_ALONE)
            return Fused(names, depth=self.fusion.depth, leading=leading)
        leading = there(self.FEW_LEADING)
        return Fused(tuple(dict.fromkeys([*leading, *available.of_inputs])), depth=SUM, leading=leading)

    @property
    def weighs(self) -> tuple[str, ...]:
        """Of :attr:`WEIGHED` those that are fused, where :attr:`LEADING` leads and no weights were given.

        They find all kinds of outliers of some pictures, and of others they do not.
        """
        if (
            self._weights_given
            or self.fusion.depth == SUM
            or set(self.LEADING).isdisjoint(self.fusion.leading)
        ):
            return ()
        return tuple(name for name in self.WEIGHED if name in (self.statistics or ()))

    def weigh(self, inliers: Measured, made_up: Sequence[Measured], /) -> None:
        """Learn how much more each statistic of :attr:`weighs` counts, before :meth:`fit`."""
        extra = {}
        for name in self.weighs:
            values, *of_kinds = (self._unlearnt(name, each) for each in (inliers, *made_up))
            extra[name] = weight(values, of_kinds)
        self.fusion = Fusion(self.fusion.depth, self.fusion.leading, extra)

    def fit(self, measured: Measured, /) -> Self:
        """Learn from what was measured of inliers."""
        found = {name: measured.statistic(name) for name in self._others}
        for name, own in self._scores.items():
            if own.learns:
                found[name] = _as_new(name, measured)
                own.fit(measured)
            else:
                found[name] = own(measured)
        self.fusion.fit(found)
        return self

    def __call__(self, measured: Measured, /) -> FloatArray:
        """Return the scores (N,)."""
        return self.fusion(self.parts(measured))

    def parts(self, measured: Measured, /) -> dict[str, FloatArray]:
        """Return the statistics that are fused (N,), by name."""
        self.fusion.check_fitted()
        made = {name: own(measured) for name, own in self._scores.items()}
        made |= {name: measured.statistic(name) for name in self._others}
        return {name: made[name] for name in self.statistics or ()}

    def surprises(self, measured: Measured, /) -> dict[str, FloatArray]:
        """Return how unusual each of them is by itself (N,), in nats; see :meth:`Fusion.surprises`."""
        found = self.fusion.surprises(self.parts(measured))
        return {name: found[name] for name in self.statistics or ()}

    def state(self) -> dict[str, FloatArray]:
        """Return what was learnt: arrays ``NAME/…`` of the scores that learn, and ``fusion/…``."""
        arrays = {f"fusion/{key}": array for key, array in self.fusion.state().items()}
        for name, own in self._scores.items():
            arrays |= {f"{name}/{key}": array for key, array in own.state().items()}
        return arrays

    def restore(self, state: Mapping[str, FloatArray], /) -> Self:
        """Take back what ``state`` gave, into a fusion of the same statistics."""
        parts: dict[str, dict[str, FloatArray]] = {}
        for key, array in state.items():
            part, _, rest = key.partition("/")
            parts.setdefault(part, {})[rest] = array
        self.fusion.restore(parts.pop("fusion", {}))
        names = self.statistics or ()
        if set(self.fusion.names_) != set(names):
            raise DataError(
                f"the state is of a fusion of {', '.join(self.fusion.names_)} and not of "
                f"{', '.join(names) or 'anything'}; fit again"
            )
        for name, own in self._scores.items():
            own.restore(parts.get(name, {}))
        return self

    def config(self) -> dict[str, Any]:
        """Return what is fused, and how, as JSON values: a later version may recommend other parts."""
        return {
            "statistics": None if self.statistics is None else list(self.statistics),
            "depth": self.fusion.depth,
            "leading": list(self.fusion.leading),
            "extra": dict(self.fusion.extra) if self._weights_given or self.fusion.extra else None,
        }

    def _unlearnt(self, name: str, measured: Measured) -> FloatArray:
        """Values of a statistic, or of a score that learns nothing."""
        return self._scores[name](measured) if name in self._scores else measured.statistic(name)

    @property
    def _others(self) -> list[str]:
        """The statistics that are no scores."""
        return [name for name in self.statistics or () if name not in self._scores]


def _as_new(name: str, measured: Measured) -> FloatArray:
    """Return a score (n,) of the inliers it learns from, as if each were new to it.

    Each by what was fitted on nine tenths without it, or if they are few on all the others.
    """
    count = len(measured)
    if count < LEAST_FOLDS:
        return score(name).fit(measured)(measured)
    folds, found = np.arange(count) % min(FOLDS, count), np.empty(count)
    for fold in range(min(FOLDS, count)):
        own = score(name).fit(measured.select(folds != fold))
        found[folds == fold] = own(measured.select(folds == fold))
    return found


def _listed(names: Sequence[str]) -> str:
    """Names in a sentence: a, b and c."""
    return " and ".join([*([", ".join(names[:-1])] if len(names) > 1 else []), *names[-1:]])
