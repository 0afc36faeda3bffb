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
from dissensus.detector.confirming import NORMAL, OUTLIER, Confirmation, nothing_confirmed
from dissensus.detector.measuring import OnProgress
from dissensus.detector.parts import rows_for_calibration
from dissensus.errors import CalibrationWarning, DataError, SettingsError
from dissensus.seeding import numpy_stream

if TYPE_CHECKING:
    from dissensus.detector.estimator import Detector
    from dissensus.detector.learnt import Learnt

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
    traits, learnt = gate._traits(X), gate.learnt_
    known = learnt.confirmed or nothing_confirmed(gate.preprocessor_, traits)
    there = known.calibrating(traits)
    joins = np.zeros(len(traits), np.bool_)
    leaving = np.zeros(0, np.int64)
    if normal and audited:
        new = np.array([not places for places in there])
        if not new.any():
            raise DataError(
                "X holds inputs that were confirmed before and are calibration inputs already: give each once"
            )
        joins, learnt = _joined(gate, X, new, audited, flagged, on_progress)
    elif not normal and any(there):
        leaving = np.unique(np.concatenate([*map(np.asarray, filter(None, there))]))
        learnt = learnt.with_calibration(
            lambda _, old: {name: np.delete(values, leaving) for name, values in old.items()}
        )
    said, before = NORMAL if normal else OUTLIER, len(gate.calibration_scores_)
    known = known.without(leaving).with_more(traits, said, joins, before - len(leaving))
    gate.learnt_ = replace(learnt, confirmed=known)
    return Confirmation(int(joins.sum()), len(traits), len(leaving))


def _joined(
    gate: Detector,
    X: Any,
    new: NDArray[np.bool_],
    audited: float,
    flagged: ArrayLike | None,
    on_progress: OnProgress | None,
) -> tuple[NDArray[np.bool_], Learnt]:
    """Which of the normal inputs join the calibration, and what is learnt with them."""
    found = {
        name: gate._statistics(X, on_progress, "calibrating", at=name)
        for name in (*gate.learnt_.levels, THOROUGH)
    }
    own = found.get(gate.effort, found[THOROUGH])[gate.statistic_]
    chosen = own > gate.threshold_ if flagged is None else np.asarray(flagged, bool)
    if chosen.shape != new.shape:
        raise DataError(f"flagged must be one truth value for each of {len(new)} inputs")
    remembered = 0 if gate.confirmed_ is None else len(gate.confirmed_.said)
    random = numpy_stream(gate.seed_, "confirmed", len(gate.calibration_scores_), remembered)
    # Those that join are a random choice of normal inputs, by whichever effort they were flagged.
    joins = joining(chosen, audited, random) & new
    learnt = gate.learnt_.with_calibration(
        lambda at, old: together(old, {name: values[joins] for name, values in found[at].items()})
    )
    return joins, learnt


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
