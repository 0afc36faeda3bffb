r"""Does a batch come from the distribution that the calibration inputs came from?

If it does, every order of the n calibration scores and the m scores of the batch is equally likely, so the
numbers of batch scores in the n + 1 gaps between calibration scores are a uniformly random composition of m.
Both statistics are functions of those counts; comparing them with R random compositions gives
:math:`p = (1 + \#\{T_r \ge T\})/(R + 1)`, which is valid for any n and m: P(p ≤ t) ≤ t.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dissensus.errors import DataError, SettingsError

__all__ = ["Alternative", "BatchTest", "batch_test"]

Alternative: TypeAlias = Literal["more-unusual", "shifted", "different"]
CELLS = 2_000_000  # gaps times compositions in memory at once


@dataclass(frozen=True)
class BatchTest:
    """Whether a whole batch is like the calibration inputs."""

    p_value: float
    """How often a batch like the calibration inputs looks at least as odd; at least 1/(R + 1)."""
    statistic: float
    """``more-unusual``, ``shifted``: how often an input of the batch scores above a calibration input, 0.5
    where they are alike. ``different``: the largest gap between the two distribution functions, from 0 to 1.
    """
    alternative: Alternative
    calibration_size: int
    batch_size: int


def batch_test(
    calibration: ArrayLike,
    scores: ArrayLike,
    *,
    alternative: Alternative = "more-unusual",
    resamples: int = 999,
    seed: int = 0,
) -> BatchTest:
    """Tests a batch's scores (m,) against calibration scores (n,); higher = more unusual.

    ``more-unusual`` is a rank-sum test that looks at one side only, ``shifted`` the same for both sides;
    ``different`` is a Kolmogorov–Smirnov test, which also sees batches that are too much alike. ``resamples``
    is R. Ties are broken at random, by ``seed``.

    >>> random = np.random.default_rng(0)
    >>> batch_test(random.normal(size=300), random.normal(size=50) + 1).p_value
    0.001
    """
    if alternative not in get_args(Alternative):
        raise SettingsError(f"alternative must be one of {get_args(Alternative)}, got {alternative!r}")
    if resamples < 1:
        raise SettingsError(f"resamples must be at least 1, got {resamples}")
    reference, batch = _checked(calibration, "calibration"), _checked(scores, "scores")
    random = np.random.default_rng(seed)
    statistic = _distance if alternative == "different" else _exceedance
    centre = 0.5 if alternative == "shifted" else None
    observed = float(statistic(_gap_counts(reference, batch, random)[None], len(batch))[0])
    # The same statistic may come out a rounding apart; such a tie must count against the alarm.
    limit = float(_oddness(np.array(observed), centre)) - 1e-12
    among, size = len(reference), len(batch)
    if alternative == "shifted":  # seen from either sample its law is the same, and few gaps are quick
        among, size = min(among, size), max(among, size)
    as_odd, left, chunk = 0, resamples, max(1, CELLS // (among + 1))
    while left:
        count = min(chunk, left)
        # Multinomial with Dirichlet(1, …, 1) probabilities: every composition is equally likely.
        shares = random.standard_exponential((count, among + 1))
        counts = random.multinomial(size, shares / shares.sum(axis=1, keepdims=True))
        as_odd += int((_oddness(statistic(counts, size), centre) >= limit).sum())
        left -= count
    p_value = (1 + as_odd) / (resamples + 1)
    return BatchTest(p_value, observed, alternative, len(reference), len(batch))


def _gap_counts(
    calibration: NDArray[np.float64], scores: NDArray[np.float64], random: np.random.Generator
) -> NDArray[np.int64]:
    """How many scores lie below the lowest calibration score, between it and the next, … (n + 1,)."""
    pooled = np.concatenate([calibration, scores])
    order = np.lexsort((random.random(len(pooled)), pooled))
    from_calibration = order < len(calibration)
    gap = np.cumsum(from_calibration)[~from_calibration]
    return np.bincount(gap, minlength=len(calibration) + 1)


def _exceedance(counts: NDArray[np.int64], batch_size: int) -> NDArray[np.float64]:
    """The share of pairs in which the batch scores higher, from gap counts (R, n + 1) → (R,)."""
    gaps = counts.shape[1]
    return np.asarray(counts @ np.arange(gaps, dtype=np.float64) / (batch_size * (gaps - 1)))


def _distance(counts: NDArray[np.int64], batch_size: int) -> NDArray[np.float64]:
    """sup |F_batch − F_calibration|, from gap counts (R, n + 1) → (R,)."""
    gaps = counts.shape[1]
    # F_calibration is g/n all over gap g; the batch's share grows there from that before it to that behind.
    behind, expected = np.cumsum(counts, axis=1) / batch_size, np.arange(gaps) / (gaps - 1)
    before = behind - counts / batch_size
    return np.asarray(np.maximum(np.abs(behind - expected), np.abs(before - expected)).max(axis=1))


def _oddness(statistic: NDArray[np.float64], centre: float | None) -> NDArray[np.float64]:
    """How far a statistic lies from its centre, or, without one, the statistic itself."""
    return statistic if centre is None else np.abs(statistic - centre)


def _checked(scores: ArrayLike, name: str) -> NDArray[np.float64]:
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1 or values.size == 0 or np.isnan(values).any():
        raise DataError(
            f"{name} must be a list of at least one number, none of them NaN, got shape {values.shape}"
        )
    return values
