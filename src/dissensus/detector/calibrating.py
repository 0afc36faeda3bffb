"""What a fitted detector's decisions are measured by: the scores of inliers that no other step has seen."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dissensus.decisions import allowed_alarms, least_calibration_size, rate_despite_outliers
from dissensus.detector.parts import rows_for_calibration
from dissensus.errors import CalibrationWarning

if TYPE_CHECKING:
    from dissensus.detector.estimator import Detector

__all__ = ["together", "warn_if_mute", "warn_if_outliers_rule"]


def together(
    old: Mapping[str, NDArray[np.float64]], new: Mapping[str, NDArray[np.float64]]
) -> dict[str, NDArray[np.float64]]:
    """Old and new values of the statistics that both have."""
    return {name: np.concatenate([old[name], values]) for name, values in new.items() if name in old}


def warn_if_mute(gate: Detector, *, stacklevel: int = 3) -> None:
    """Warns whoever called the detector's method where its false-alarm rate allows no alarm at all."""
    rate, size = gate.false_alarm_rate, len(gate.calibration_scores_)
    if allowed_alarms(size, rate) == 0:
        least = least_calibration_size(rate)
        warnings.warn(
            f"false_alarm_rate={rate} takes {least} calibration rows and there are {size}, so nothing will "
            f"be flagged: fit on at least {rows_for_calibration(least)} rows, recalibrate with {least}, or "
            "ask for a higher rate",
            CalibrationWarning,
            stacklevel=stacklevel,
        )


def warn_if_outliers_rule(gate: Detector, *, stacklevel: int = 3) -> None:
    """Warns whoever fitted where calibration inputs hold so many outliers that one is the threshold."""
    if gate.left_out_ is None:
        return
    share, rate, size = gate.left_out_.contamination, gate.false_alarm_rate, len(gate.calibration_scores_)
    outliers, allowed = round(share * size), allowed_alarms(size, rate)
    if 0 < allowed <= outliers:
        warnings.warn(
            f"contamination={share:g} means about {outliers} outliers among the {size} calibration inputs "
            f"too, so that at false_alarm_rate={rate:g} one of them is the threshold, and of new ones like "
            f"them only about {allowed / (outliers + 1):.0%} will be flagged: recalibrate on inputs known to "
            "be normal (gate.recalibrate(X), dissensus calibrate), or ask for a rate of "
            f"{rate_despite_outliers(share, rate):.3g}, which flags about {rate:g} of normal inputs if they "
            "score below outliers",
            CalibrationWarning,
            stacklevel=stacklevel,
        )
