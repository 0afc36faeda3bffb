"""Which of many inputs to call outliers, so that few of those called are false: the false discovery rate.

A false-alarm rate of 1 % flags ten of a thousand normal inputs, however few outliers there are among them.
The false discovery rate is the expected share of normal inputs *among those flagged*.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dissensus.errors import DataError, SettingsError

__all__ = [
    "Discoveries",
    "benjamini_hochberg",
    "benjamini_yekutieli",
    "check_discoveries_possible",
    "discovery_limit",
    "least_calibration_size_for_fdr",
]


ROUNDING = 1e-12  # conformal p-values are fractions that may meet the rate exactly, but for rounding


class Discoveries(NamedTuple):
    """Which of N tests a procedure flags, and their adjusted p-values."""

    flagged: NDArray[np.bool_]
    """(N,)"""
    adjusted: NDArray[np.float64]
    """(N,), adjusted p-values: the lowest false discovery rate at which each test is flagged."""


def benjamini_hochberg(p_values: ArrayLike, fdr: float) -> Discoveries:
    r"""Flags the k smallest p-values, k the largest with :math:`p_{(k)} \le \mathrm{fdr} \cdot k/N`.

    The expected share of inliers among the flagged is at most ``fdr`` times the share of inliers among all,
    if the p-values are independent or positively dependent (PRDS). Split-conformal p-values of independent
    inputs without tied scores, all from one calibration set, are PRDS (Bates et al. 2023, "Testing for
    outliers with conformal p-values"), so the guarantee covers them. It is one on average, over calibration
    sets and batches.

    >>> benjamini_hochberg([0.01, 0.02, 0.03, 0.5], fdr=0.05).flagged.tolist()
    [True, True, True, False]
    """
    return _flag(p_values, fdr)


def discovery_limit(p_values: ArrayLike, counts: ArrayLike, fdr: float) -> float:
    r"""Return the largest p-value that :func:`benjamini_hochberg` flags; −1 where it flags none.

    It is told each of the different p-values once, and how often each occurs. Conformal p-values are n + 1
    fractions at most, however many inputs have one: of ten thousand million, these are all that has to be in
    memory.

    >>> discovery_limit([0.01, 0.03, 0.5], [1, 2, 1], fdr=0.05)
    0.03
    """
    _check_rate(fdr)
    values, times = np.asarray(p_values, dtype=np.float64), np.asarray(counts, dtype=np.int64)
    order = np.argsort(values)
    values, rank = values[order], np.cumsum(times[order])
    # Of equal p-values the last has the largest rank, and so the smallest adjusted p-value, which all get.
    scaled = values * ((rank[-1] if len(rank) else 0) / rank)
    adjusted = np.minimum.accumulate(scaled[::-1])[::-1].clip(0, 1)
    flagged = values[adjusted <= fdr * (1 + ROUNDING)]
    return float(flagged.max()) if len(flagged) else -1.0


def benjamini_yekutieli(p_values: ArrayLike, fdr: float) -> Discoveries:
    r"""Benjamini–Hochberg at the rate :math:`\mathrm{fdr} / \sum_{i=1}^N 1/i`.

    The same guarantee for p-values that depend on each other in any way whatever, such as those of the frames
    of one film, at the price of fewer discoveries.

    >>> benjamini_yekutieli([0.01, 0.02, 0.03, 0.5], fdr=0.05).flagged.tolist()
    [False, False, False, False]
    """
    return _flag(p_values, fdr, any_dependence=True)


def least_calibration_size_for_fdr(fdr: float, tests: int, *, discoveries: int = 1) -> int:
    r"""The least n with :math:`n + 1 \ge m/(\mathrm{fdr} \cdot k)`.

    So many calibration inputs it takes before Benjamini–Hochberg can flag k of m inputs, k being the number
    of those that score above every calibration input.

    >>> [least_calibration_size_for_fdr(0.1, tests=1000, discoveries=k) for k in (1, 50)]
    [9999, 199]
    """
    _check_rate(fdr)
    if not 1 <= discoveries <= tests:
        raise SettingsError(f"discoveries must be at least 1 and at most tests={tests}, got {discoveries}")
    return math.ceil(tests / (fdr * discoveries) - 1e-9) - 1


def check_discoveries_possible(calibration_size: int, fdr: float) -> None:
    """Refuses a rate at which nothing could be flagged, even if every one of the inputs were an outlier."""
    least = least_calibration_size_for_fdr(fdr, tests=1)  # the same for any number of inputs, all flagged
    if calibration_size < least:
        raise SettingsError(
            f"fdr={fdr} can flag nothing with {calibration_size} calibration rows: it takes {least} even "
            "where every input is an outlier; recalibrate on more rows or choose a higher fdr"
        )


def _flag(p_values: ArrayLike, fdr: float, *, any_dependence: bool = False) -> Discoveries:
    _check_rate(fdr)
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise DataError("p_values must be a list of numbers between 0 and 1; there is something else in it")
    adjusted = _adjusted(p, any_dependence=any_dependence)
    return Discoveries(adjusted <= fdr * (1 + ROUNDING), adjusted)


def _adjusted(p: NDArray[np.float64], *, any_dependence: bool) -> NDArray[np.float64]:
    r""":math:`\min(1, \min_{j \ge k} p_{(j)} N/j)` for the k-th smallest; with Yekutieli's sum, if asked.

    As `scipy.stats.false_discovery_control` has it, whose checks of a few numbers take ten times as long.
    """
    rank, order = np.arange(1, len(p) + 1), np.argsort(p)
    scaled = p[order] * (len(p) / rank)
    if any_dependence:
        scaled *= np.sum(1 / rank)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum.accumulate(scaled[::-1])[::-1].clip(0, 1)
    return adjusted


def _check_rate(fdr: float) -> None:
    if not 0 < fdr < 1:
        raise SettingsError(f"fdr must lie between 0 and 1, got {fdr}")
