"""What a fitted detector's decisions are measured by: the scores of inliers that no other step has seen."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from dissensus.decisions import allowed_alarms, joining, least_calibration_size, rate_despite_outliers
from dissensus.defaults import THOROUGH
from dissensus.detector.confirming import CALIBRATES, NORMAL, OUTLIER, Confirmation, nothing_confirmed
from dissensus.detector.measuring import OnProgress
from dissensus.detector.parts import rows_for_calibration
from dissensus.errors import CalibrationWarning, DataError, SettingsError
from dissensus.seeding import numpy_stream

if TYPE_CHECKING:
    from dissensus.detector.estimator import Detector

__all__ = ["confirm", "together", "warn_if_mute", "warn_if_outliers_rule"]


def together(
    old: Mapping[str, NDArray[np.float64]], new: Mapping[str, NDArray[np.float64]]
) -> dict[str, NDArray[np.float64]]:
    """Old and new values of the statistics that both have."""
    return {name: np.concatenate([old[name], values]) for name, values in new.items() if name in old}


def confirm(
    gate: Detector,
    X: Any,
    *,
    normal: bool,
    audited: float,
    flagged: ArrayLike | None,
    on_progress: OnProgress | None,
) -> Confirmation:
    """What :meth:`Detector.confirm` does: some inputs join the calibration, all are remembered."""
    check_is_fitted(gate)
    if not normal and audited:
        raise SettingsError(
            "audited is about normal inputs: outliers never join the calibration, so leave it out"
        )
    traits = gate._traits(X)
    known = gate.learnt_.confirmed or nothing_confirmed(gate.preprocessor_, traits)
    calibration, levels = gate.learnt_.calibration, dict(gate.learnt_.levels)
    said = np.full(len(traits), NORMAL if normal else OUTLIER, np.uint8)
    if normal and audited:
        if known.have_joined(traits):
            raise DataError("X was confirmed before, and calibrates: give each input once")
        learnt = gate.learnt_
        asked = {name: gate._statistics(X, on_progress, "calibrating", at=name) for name in learnt.levels}
        found = gate._statistics(X, on_progress, "calibrating", at=THOROUGH)
        own = asked.get(gate.effort, found)[gate.statistic_]
        chosen = own > gate.threshold_ if flagged is None else np.asarray(flagged, bool)
        if chosen.shape != (len(traits),):
            raise DataError(f"flagged must be one truth value for each of {len(traits)} inputs")
        random = numpy_stream(gate.seed_, "confirmed", len(gate.calibration_scores_), len(known.traits))
        joins = joining(chosen, audited, random)
        # Those that join are a random choice of normal inputs, by whichever effort they were flagged.
        calibration = together(calibration, {name: values[joins] for name, values in found.items()})
        for name, values in asked.items():
            more = {statistic: each[joins] for statistic, each in values.items()}
            levels[name] = replace(levels[name], calibration=together(levels[name].calibration, more))
        said[joins] = CALIBRATES
    known = known.with_more(traits, said)
    gate.learnt_ = replace(gate.learnt_, calibration=calibration, levels=levels, confirmed=known)
    return Confirmation(int((said == CALIBRATES).sum()), len(traits))


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
