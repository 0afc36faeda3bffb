"""Observation models by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dissensus.errors import SettingsError
from dissensus.models.observation.base import ObservationModel
from dissensus.models.observation.bernoulli import Bernoulli
from dissensus.models.observation.categorical import Categorical
from dissensus.models.observation.continuous_bernoulli import ContinuousBernoulli
from dissensus.models.observation.discretised_logistic import DiscretisedLogistic
from dissensus.models.observation.gaussian import Gaussian

__all__ = ["OBSERVATIONS", "default_observation", "observation", "observation_from_config"]

LEAST_SCALE = 0.1  # of standardised columns: finer than a tenth of a deviation is no structure worth chasing

OBSERVATIONS: Mapping[str, type[ObservationModel]] = {
    model.name: model
    for model in (Bernoulli, ContinuousBernoulli, Gaussian, Categorical, DiscretisedLogistic)
}
"""Every observation model of this package, by name."""


def observation(model: str | ObservationModel, **settings: Any) -> ObservationModel:
    """The observation model of that name with these settings; an instance is handed back as it is.

    >>> observation("gaussian", scale=0.2)
    Gaussian(scale=0.2, floor=0.01)
    """
    if isinstance(model, ObservationModel):
        if settings:
            raise SettingsError(f"{model} is already made: give its name to change {', '.join(settings)}.")
        return model
    if model not in OBSERVATIONS:
        raise SettingsError(f"observation={model!r} is not known: choose one of {', '.join(OBSERVATIONS)}.")
    try:
        return OBSERVATIONS[model](**settings)
    except TypeError as error:
        raise SettingsError(f"observation {model!r} does not take {settings}: {error}.") from error


def default_observation(shape: Sequence[int]) -> ObservationModel:
    """Bernoulli for pictures (C, H, W), and a Gaussian with a learnt scale for standardised rows (D,).

    >>> default_observation((3,))
    Gaussian(scale=None, floor=0.1)
    """
    return Bernoulli() if len(shape) == 3 else Gaussian(scale=None, floor=LEAST_SCALE)


def observation_from_config(config: Mapping[str, Any]) -> ObservationModel:
    """The inverse of :meth:`ObservationModel.to_config`.

    >>> observation_from_config(Gaussian(scale=None).to_config())
    Gaussian(scale=None, floor=0.01)
    """
    settings = dict(config)
    if "name" not in settings:
        raise SettingsError(f"an observation model's config needs a 'name'; got {settings}.")
    return observation(settings.pop("name"), **settings)
