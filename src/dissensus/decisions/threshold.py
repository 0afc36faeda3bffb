r"""How far the realised false-alarm rate can lie from the one asked for, because calibration sets are finite.

The threshold at rate α is the k-th largest of n calibration scores, :math:`k = \lfloor α(n+1) \rfloor`. Over
the choice of those n inputs, the share of all inliers above it is a random number with the law
:math:`\mathrm{Beta}(k, n + 1 - k)`, whatever the (continuous) law of the scores; among m inliers the number
above it is beta-binomial.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from dissensus.decisions.conformal import allowed_alarms, conformal_threshold
from dissensus.errors import SettingsError

__all__ = [
    "FalseAlarmInterval",
    "Threshold",
    "calibrated_threshold",
    "chance_of_alarms",
    "false_alarm_interval",
]


@dataclass(frozen=True)
class FalseAlarmInterval:
    """Where the realised false-alarm rate lies with probability ``level``, over calibration sets."""

    low: float
    high: float
    level: float


@dataclass(frozen=True)
class Threshold:
    """What is flagged scores above ``value``, and what that promises."""

    value: float
    """Infinite where the calibration set is too small for any alarm."""
    false_alarm_rate: float
    """The rate asked for; the mean realised rate is this or a little less."""
    calibration_size: int
    interval: FalseAlarmInterval


def calibrated_threshold(calibration: ArrayLike, false_alarm_rate: float, *, level: float = 0.9) -> Threshold:
    """Return the conformal threshold of calibration scores (n,), with the interval of its rate.

    >>> found = calibrated_threshold(range(1, 1000), 0.05)
    >>> found.value, round(found.interval.low, 3), round(found.interval.high, 3)
    (950.0, 0.039, 0.062)
    """
    size = int(np.size(np.asarray(calibration)))
    return Threshold(
        conformal_threshold(calibration, false_alarm_rate),
        false_alarm_rate,
        size,
        false_alarm_interval(size, false_alarm_rate, level=level),
    )


def false_alarm_interval(
    calibration_size: int, false_alarm_rate: float, *, level: float = 0.9, tests: int | None = None
) -> FalseAlarmInterval:
    """Return the equal-tailed interval of the realised false-alarm rate, over calibration sets.

    Of all inliers there may ever be, or, with ``tests``, of that many: a share of finitely many can only be a
    multiple of 1/m, so that interval holds with probability ``level`` or a little more. Tied scores can only
    make the realised rate lower.

    >>> wide, narrow = false_alarm_interval(99, 0.05), false_alarm_interval(9999, 0.05)
    >>> [round(end, 3) for end in (wide.low, wide.high, narrow.low, narrow.high)]
    [0.02, 0.09, 0.046, 0.054]
    """
    if not 0 < level < 1:
        raise SettingsError(f"level must lie between 0 and 1, got {level}")
    if tests is not None and tests < 1:
        raise SettingsError(f"tests must be at least 1, got {tests}")
    allowed = allowed_alarms(calibration_size, false_alarm_rate)
    if allowed == 0:
        return FalseAlarmInterval(0.0, 0.0, level)
    shape = allowed, calibration_size + 1 - allowed
    if tests is None:
        low, high = (float(stats.beta.ppf(tail, *shape)) for tail in _tails(level))
    else:
        low, high = (float(stats.betabinom.ppf(tail, tests, *shape)) / tests for tail in _tails(level))
    return FalseAlarmInterval(low, high, level)


def chance_of_alarms(calibration_size: int, false_alarm_rate: float, *, tests: int, alarms: int) -> float:
    """How often at least ``alarms`` of ``tests`` inputs like the calibration inputs are flagged.

    >>> [round(chance_of_alarms(99, 0.05, tests=100, alarms=k), 3) for k in (0, 5, 15)]
    [1.0, 0.506, 0.007]
    """
    allowed = allowed_alarms(calibration_size, false_alarm_rate)
    if alarms == 0 or allowed == 0:
        return 1.0 if alarms == 0 else 0.0
    return float(stats.betabinom.sf(alarms - 1, tests, allowed, calibration_size + 1 - allowed))


def _tails(level: float) -> tuple[float, float]:
    return (1 - level) / 2, (1 + level) / 2
