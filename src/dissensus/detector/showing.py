"""How a fitted detector looks in a notebook: what it has learnt, above scikit-learn's diagram."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any, cast

from dissensus.models import model_name

if TYPE_CHECKING:
    from dissensus.detector.estimator import Detector

__all__ = ["Shown"]


class Shown:
    """Beside scikit-learn's parameters, what a fit has learnt."""

    def _repr_html_inner(self) -> str:
        return _learnt(cast("Detector", self)) + str(super()._repr_html_inner())  # type: ignore[misc]

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        found: dict[str, str] = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if "text/html" in found:
            found["text/html"] = _learnt(cast("Detector", self)) + found["text/html"]
        return found


def _learnt(detector: Detector) -> str:
    """A table of what there is to know at a glance; nothing before a fit."""
    if not detector.__sklearn_is_fitted__():
        return ""
    threshold, interval = detector.threshold_, detector.false_alarm_interval_
    inputs = " × ".join(map(str, detector.preprocessor_.shape))
    if (names := detector.preprocessor_.feature_names) is not None:
        inputs = f"rows of {len(names)} columns: {', '.join(names[:8])}{' …' if len(names) > 8 else ''}"
    flags = (
        f"scores above {threshold:.4g}, of normal inputs {interval.low:.1%} to {interval.high:.1%}"
        if math.isfinite(threshold)
        else "nothing: there are too few calibration inputs for this false-alarm rate"
    )
    rows = {
        "inputs": inputs,
        "learnt from": f"{sum(detector.fitted_rows_.values()):,}, of which "
        f"{len(detector.calibration_scores_):,} calibrate",
        "model": f"{model_name(type(detector.model_))}, {len(detector.draws_)} draws",
        "score": detector.statistic_,
        "flags": f"{flags} (false-alarm rate {detector.false_alarm_rate:g})",
    }
    lines = "".join(f"<tr><th>{title}</th><td>{escape(text)}</td></tr>" for title, text in rows.items())
    return f"<table><caption>{type(detector).__name__}, fitted</caption><tbody>{lines}</tbody></table>"
