"""Split-conformal p-values: how unusual a score is among those of inliers that nothing else has seen.

If inputs are exchangeable with the n calibration inputs, P(p ≤ t) ≤ t for every t, whatever the score is.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dissensus.errors import SettingsError

__all__ = [
    "allowed_alarms",
    "conformal_p_values",
    "conformal_threshold",
    "least_calibration_size",
    "rounded",
]

DIGITS = 40  # of the 53 that a number has


def conformal_p_values(calibration: ArrayLike, scores: ArrayLike) -> NDArray[np.float64]:
    """Return p = (1 + #{calibration scores ≥ s})/(n + 1) of each :func:`rounded` score s, (N,).

    >>> conformal_p_values([1.0, 2.0, 3.0], [0.0, 2.5, 9.0])
    array([1.  , 0.5 , 0.25])
    """
    ordered = np.sort(rounded(calibration))
    below = np.searchsorted(ordered, rounded(scores), side="left")
    return np.asarray((1.0 + len(ordered) - below) / (len(ordered) + 1.0), dtype=np.float64)


def conformal_threshold(calibration: ArrayLike, false_alarm_rate: float) -> float:
    """Return the t with p(s) ≤ α exactly where :func:`rounded` s > t; infinite if no alarm can be.

    >>> conformal_threshold(range(1, 20), 0.05), conformal_threshold(range(1, 19), 0.05)
    (19.0, inf)
    """
    ordered = np.sort(rounded(calibration))
    allowed = allowed_alarms(len(ordered), false_alarm_rate)
    return float(ordered[-allowed]) if allowed >= 1 else math.inf


def rounded(scores: ArrayLike) -> NDArray[np.float64]:
    """Round scores to 40 binary digits, about twelve decimal ones.

    An input that was among the calibration inputs is one of them again only if its score is equal to the one
    on record, and the last bits of a score are not the same on every machine and in every version.

    >>> rounded([0.1 + 0.2, 0.3]).tolist() == rounded([0.3, 0.3]).tolist()
    True
    """
    mantissa, exponent = np.frexp(np.asarray(scores, dtype=np.float64))
    return np.asarray(np.ldexp(np.rint(np.ldexp(mantissa, DIGITS)), exponent - DIGITS), dtype=np.float64)


def allowed_alarms(calibration_size: int, false_alarm_rate: float) -> int:
    """Return k = ⌊α(n + 1)⌋: the threshold is the k-th largest calibration score; 0 allows no alarm.

    >>> allowed_alarms(99, 0.05), allowed_alarms(18, 0.05)
    (5, 0)
    """
    _check_rate(false_alarm_rate)
    # The tolerance keeps α(n+1) = 1.0 from becoming 0.999… and losing an alarm.
    return min(math.floor(false_alarm_rate * (calibration_size + 1) + 1e-9), calibration_size)


def least_calibration_size(false_alarm_rate: float) -> int:
    """Return how many calibration inputs it takes before any alarm at this rate is possible.

    >>> least_calibration_size(0.01)
    99
    """
    _check_rate(false_alarm_rate)
    return math.ceil(1 / false_alarm_rate - 1e-9) - 1


def _check_rate(false_alarm_rate: float) -> None:
    if not 0 < false_alarm_rate < 1:
        raise SettingsError(f"false_alarm_rate must lie between 0 and 1, got {false_alarm_rate}")
