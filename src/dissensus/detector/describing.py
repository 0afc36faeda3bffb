"""What there is to say about a fitted detector's model, whatever its family."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dissensus.models import model_name

if TYPE_CHECKING:
    from dissensus.detector.estimator import Detector

__all__ = ["about_model"]


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
