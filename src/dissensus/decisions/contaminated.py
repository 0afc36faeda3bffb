"""What false-alarm rate is realised where some of the calibration inputs are outliers themselves.

Of n calibration inputs let m be outliers, and k = ⌊α(n + 1)⌋: a normal input is flagged where fewer than k
calibration inputs score as high. If J of the n − m normal ones do, J + 1 is its rank among n − m + 1 inputs
that are exchangeable, so P(J < j) ≤ j/(n − m + 1), with equality where no scores are equal. Between J and
J + m of all calibration inputs score as high, so the realised rate lies between P(J < k − m) and P(J < k),
whatever the outliers are: it is the lower one if they all score above normal inputs, and the upper one if
they all score below them.
"""

from __future__ import annotations

from typing import NamedTuple

from dissensus.decisions.conformal import allowed_alarms
from dissensus.errors import SettingsError

__all__ = ["ContaminatedRate", "contaminated_rate", "rate_despite_outliers"]


class ContaminatedRate(NamedTuple):
    """Between which rates normal inputs are flagged, on average over calibration sets."""

    low: float
    """(k − m)⁺/(n − m + 1), about (α − ε)/(1 − ε) for a share ε of outliers: if all score above inliers."""
    high: float
    """k/(n − m + 1), about α/(1 − ε): if all score below them."""


def contaminated_rate(calibration_size: int, outliers: int, false_alarm_rate: float) -> ContaminatedRate:
    """Return the bounds for ``outliers`` m among n calibration inputs; the lower one if no scores are equal.

    >>> [round(rate, 4) for rate in contaminated_rate(999, 20, 0.05)]
    [0.0306, 0.051]
    >>> contaminated_rate(999, 100, 0.05).low
    0.0
    """
    if not 0 <= outliers <= calibration_size:
        raise SettingsError(f"outliers must be 0 to {calibration_size} of as many inputs, got {outliers}")
    allowed = allowed_alarms(calibration_size, false_alarm_rate)
    exchangeable = calibration_size - outliers + 1
    return ContaminatedRate(max(0, allowed - outliers) / exchangeable, min(1.0, allowed / exchangeable))


def rate_despite_outliers(contamination: float, false_alarm_rate: float) -> float:
    """Return the rate to ask for so that, with outliers above all normal inputs, about this one is realised.

    >>> round(rate_despite_outliers(0.1, 0.05), 6)
    0.145
    """
    return contamination + false_alarm_rate * (1 - contamination)
