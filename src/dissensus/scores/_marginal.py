"""The distribution of one statistic among inliers, in its bulk and beyond all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr, ndtri, ndtri_exp

from dissensus.errors import DataError
from dissensus.scores._matrix import FloatArray

__all__ = ["Marginal", "surprise"]

FARTHEST = 1e305  # infinite values are taken for this one; sums and differences of such are still finite
TAIL_SHARE, LEAST_TAIL = 0.05, 20  # of the inliers at either end: enough to tell how fast the tail falls
KNOTS = 64
SHAPE_RANGE = (0.1, 0.9)


@dataclass(frozen=True)
class Marginal:
    r"""Turns values into normal scores: monotone, standard normal on inliers, without ties far from them.

    Between the 5% and the 95% quantile (further in where inliers are few) the scores of 64 quantiles are
    joined by lines. Beyond, the excess y over the last knot, which p of the inliers exceed, follows a
    generalised Pareto law,

    .. math:: P(\text{excess} > y) = p \left(1 + ξ y / σ\right)^{-1/ξ},

    with ξ by probability-weighted moments (Hosking and Wallis, 1987), clipped to [0.1, 0.9], and σ by the
    median excess. ξ > 0 is a heavy tail whatever the inliers look like: scores then grow with the logarithm
    of the distance, so that no single statistic, however far off, is all that counts.
    """

    ARRAYS: ClassVar[tuple[str, ...]] = ("knots", "scores", "scales", "shapes")

    knots: FloatArray
    """Values (k,), strictly increasing."""
    scores: FloatArray
    """Their normal scores (k,), strictly increasing."""
    scales: FloatArray
    """σ of the lower and of the upper tail (2,)."""
    shapes: FloatArray
    """ξ of the lower and of the upper tail (2,)."""

    def __post_init__(self) -> None:
        knots, scores, scales, shapes = arrays = [np.asarray(array) for array in self.arrays().values()]
        fits = knots.ndim == 1 and len(knots) and scores.shape == knots.shape
        if (
            not fits
            or scales.shape != (2,)
            or shapes.shape != (2,)
            or not all(np.isfinite(array).all() for array in arrays)
            or not ((np.diff(knots) > 0).all() and (np.diff(scores) > 0).all())
            or not ((scales > 0).all() and (shapes > 0).all())
        ):
            raise DataError("the state of a marginal distribution is not one; fit again")

    @classmethod
    def fit(cls, values: ArrayLike) -> Marginal:
        """Learn from inliers' values (n,), n ≥ 1, none of them NaN."""
        x = np.sort(np.clip(np.asarray(values, dtype=np.float64), -FARTHEST, FARTHEST))
        n = len(x)
        share = min(max(TAIL_SHARE, LEAST_TAIL / n), 0.25)
        levels = np.linspace(share, 1.0 - share, KNOTS)
        # Equal knots are one knot in the middle of their levels: a tie is half below and half above itself.
        knots, group = np.unique(np.quantile(x, levels), return_inverse=True)
        scores = ndtri(np.bincount(group, levels) / np.bincount(group))
        spread = _spread(x)
        lower, upper = _tail(knots[0] - x, spread), _tail(x - knots[-1], spread)
        scales, shapes = np.array([lower, upper]).T
        return cls(knots, scores, scales, shapes)

    def __call__(self, values: ArrayLike) -> FloatArray:
        """Normal scores of values of any shape."""
        x = np.clip(np.asarray(values, dtype=np.float64), -FARTHEST, FARTHEST)
        # Between knots that are very far apart a line may round to more than the score of its own end.
        next_knot = np.searchsorted(self.knots, x)
        least = self.scores[np.maximum(next_knot - 1, 0)]
        most = self.scores[np.minimum(next_knot, len(self.knots) - 1)]
        found: FloatArray = np.array(np.clip(np.interp(x, self.knots, self.scores), least, most))
        # The tails' formulas take ten times as long, and few values are there.
        below, above = x < self.knots[0], x > self.knots[-1]
        found[below] = -self._beyond(self.knots[0] - x[below], -float(self.scores[0]), 0)
        found[above] = self._beyond(x[above] - self.knots[-1], float(self.scores[-1]), 1)
        return found

    def arrays(self) -> dict[str, FloatArray]:
        """All there is to it, by name."""
        return {name: getattr(self, name) for name in self.ARRAYS}

    def _beyond(self, excess: FloatArray, border: float, tail: int) -> FloatArray:
        """The normal score of an excess over a border whose score is known."""
        scale, shape = float(self.scales[tail]), float(self.shapes[tail])
        with np.errstate(divide="ignore"):  # no excess
            log_excess = np.log(np.maximum(excess, 0.0))
        # log(1 + ξy/σ) by logarithms, for y/σ may be too large a number.
        log_p = log_ndtr(-border) - np.logaddexp(0.0, log_excess + np.log(shape) - np.log(scale)) / shape
        # Next to the border the way there and back may round to less than its score.
        found: FloatArray = np.maximum(-np.asarray(ndtri_exp(log_p)), border)
        return found


def surprise(scores: FloatArray) -> FloatArray:
    """−log P(an inlier scores as high) in nats, of normal scores of any shape."""
    return -np.asarray(log_ndtr(-scores))


def _spread(x: FloatArray) -> float:
    """A length that sorted values (n,) differ by."""
    for share in (0.25, 0.05, 0.0):
        low, high = np.quantile(x, [share, 1.0 - share])
        if high > low:
            return float(high - low)
    # All alike: what counts as a difference can only be guessed.
    return 1e-6 * max(1.0, abs(float(x[0])))


def _tail(excess: FloatArray, spread: float) -> tuple[float, float]:
    """σ and ξ of the positive ones among the excesses (n,)."""
    least = max(1e-9 * spread, float(np.finfo(np.float64).tiny))
    y = np.sort(excess[excess > 0.0])
    m = len(y)
    if m < 2:
        return max(spread, least), SHAPE_RANGE[0]
    y, unit = y / y[-1], float(y[-1])
    weights = 1.0 - (np.arange(m) + 0.65) / m  # Hosking and Wallis's plotting positions
    first, second = float(y.mean()), float((weights * y).mean())
    lightest = first <= 2.0 * second  # lighter than any ξ
    shape = SHAPE_RANGE[0] if lightest else float(np.clip(2.0 - first / (first - 2.0 * second), *SHAPE_RANGE))
    scale = float(np.median(y)) * shape / (2.0**shape - 1.0) * unit
    return max(scale, least), shape
