"""What there is to say about a fitted detector's model and sampler, whatever they are."""

from __future__ import annotations

import warnings
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from dissensus.detector.confirming import OUTLIER
from dissensus.errors import SamplerWarning
from dissensus.models import model_name
from dissensus.posterior import Verdict

if TYPE_CHECKING:
    from dissensus.detector.estimator import Detector

__all__ = [
    "about_confirmed",
    "about_left_out",
    "about_model",
    "about_sampler",
    "sampler_verdict",
    "warn_if_unsound",
]


def about_model(detector: Detector) -> dict[str, Any]:
    """Return the model's name and facts, and the settings that mean something for it, as JSON values.

    The variant is there if some part of the model only proposes, and the samples K if log p is estimated.
    """
    model = detector.model_
    name = model_name(type(model))
    about: dict[str, Any] = {"model": {"name": name} | model.facts() | {"name": name}}
    if model.inference:
        about["variant"] = int(detector.variant)
    if model.noise_size:
        about["samples"] = int(detector.learnt_.samples)
    return about


def about_left_out(detector: Detector) -> dict[str, Any] | None:
    """Return the contamination and how many inputs of each part it left out, as JSON values."""
    return None if detector.left_out_ is None else asdict(detector.left_out_)


def about_confirmed(detector: Detector) -> dict[str, int] | None:
    """Return how many inputs are remembered as normal and as outliers, and how many calibrate by now."""
    if (known := detector.confirmed_) is None:
        return None
    outliers = int((known.said == OUTLIER).sum())
    return {"normal": len(known.said) - outliers, "outliers": outliers, "joined": known.joined}


def about_sampler(detector: Detector) -> dict[str, Any] | None:
    """Return the sampler's health and the verdict on it, as JSON values; ``None`` if nothing was reported."""
    diagnostics = detector.draws_.diagnostics
    return diagnostics.health(step_size=_step_size(detector)) if diagnostics.reports else None


def sampler_verdict(detector: Detector) -> Verdict:
    """Return whether the draws can be taken for draws of the posterior, and what to do if not."""
    return detector.draws_.diagnostics.verdict(step_size=_step_size(detector))


def warn_if_unsound(detector: Detector, *, stacklevel: int = 3) -> None:
    """Warn whoever called the detector's method where its draws are not draws of the posterior."""
    if (said := sampler_verdict(detector).warning) is not None:
        warnings.warn(said, SamplerWarning, stacklevel=stacklevel)


def _step_size(detector: Detector) -> float | None:
    """The argument ``step_size``, if that is what the chains had."""
    sampler = detector.sampler_
    return sampler.step_size if isinstance(sampler.posterior, str) else None
