"""Split-conformal p-values: how unusual a score is among those of inliers that nothing else has seen.

If inputs are exchangeable with the n calibration inputs, P(p ≤ t) ≤ t for every t, whatever the score is.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dissensus.errors import SettingsError

__all__ = ["allowed_alarms", "conformal_p_values", "conformal_threshold", "least_calibration_size"]


def conformal_p_values(calibration: ArrayLike, scores: ArrayLike) -> NDArray[np.float64]:
    """p = (1 + #{calibration scores ≥ s})/(n + 1) for scores (N,), higher = more unusual.

    >>> conformal_p_values([1.0, 2.0, 3.0], [0.0, 2.5, 9.0])
    array([1.  , 0.5 , 0.25])
    """
    ordered = np.sort(np.asarray(calibration, dtype=np.float64))
    below = np.searchsorted(ordered, np.asarray(scores, dtype=np.float64), side="left")
    return np.asarray((1.0 + len(ordered) - below) / (len(ordered) + 1.0), dtype=np.float64)


def conformal_threshold(calibration: ArrayLike, false_alarm_rate: float) -> float:
    """The t with p(s) ≤ α exactly where s > t; infinite where so few calibration scores allow no alarm.

    >>> conformal_threshold(range(1, 20), 0.05), conformal_threshold(range(1, 19), 0.05)
    (19.0, inf)
    """
    ordered = np.sort(np.asarray(calibration, dtype=np.float64))
    allowed = allowed_alarms(len(ordered), false_alarm_rate)
    return float(ordered[-allowed]) if allowed >= 1 else math.inf


def allowed_alarms(calibration_size: int, false_alarm_rate: float) -> int:
    """k = ⌊α(n + 1)⌋: the threshold is the k-th largest of n calibration scores; 0 allows no alarm.

    >>> allowed_alarms(99, 0.05), allowed_alarms(18, 0.05)
    (5, 0)
    """
    _check_rate(false_alarm_rate)
    # The tolerance keeps α(n+1) = 1.0 from becoming 0.999… and losing an alarm.
    return min(math.floor(false_alarm_rate * (calibration_size + 1) + 1e-9), calibration_size)


def least_calibration_size(false_alarm_rate: float) -> int:
    """How many calibration inputs it takes before any alarm at this rate is possible.

    >>> least_calibration_size(0.01)
    99
    """
    _check_rate(false_alarm_rate)
    return math.ceil(1 / false_alarm_rate - 1e-9) - 1


def _check_rate(false_alarm_rate: float) -> None:
    if not 0 < false_alarm_rate < 1:
        raise SettingsError(f"false_alarm_rate must lie between 0 and 1, got {false_alarm_rate}")
