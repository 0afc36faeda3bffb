"""Observation models by name."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from dissensus.errors import SettingsError, brief
from dissensus.models.observation.base import ObservationModel
from dissensus.models.observation.bernoulli import Bernoulli
from dissensus.models.observation.categorical import Categorical
from dissensus.models.observation.continuous_bernoulli import ContinuousBernoulli
from dissensus.models.observation.discretised_logistic import DiscretisedLogistic
from dissensus.models.observation.gaussian import Gaussian
from dissensus.own_code import is_own_name, name_of, pick

__all__ = [
    "OBSERVATIONS",
    "OwnObservations",
    "check_observation",
    "default_observation",
    "observation",
    "observation_from_config",
    "observation_to_config",
]

LEAST_SCALE = 0.1  # of standardised columns: finer than a tenth of a deviation is no structure worth chasing

OBSERVATIONS: Mapping[str, type[ObservationModel]] = {
    model.name: model
    for model in (Bernoulli, ContinuousBernoulli, Gaussian, Categorical, DiscretisedLogistic)
}
"""Every observation model of this package, by name."""

OwnObservations: TypeAlias = (
    ObservationModel | type[ObservationModel] | Sequence[ObservationModel | type[ObservationModel]] | None
)
"""What is passed when a detector is loaded: an observation model of one's own, or several."""


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


def check_observation(model: str | ObservationModel) -> None:
    """Refuse what is no observation model, and one of a person's own that could not be loaded back."""
    if model == "auto":
        return
    if not isinstance(model, str | ObservationModel):
        raise SettingsError(
            f"observation={model!r} is no observation model: choose one of auto, {', '.join(OBSERVATIONS)}, "
            "or pass an object that inherits from dissensus.models.ObservationModel"
        )
    if is_own_name(model):
        raise SettingsError(f"observation={model!r} is the name of a class: import it and pass an object")
    own = observation(model)
    if type(own) in OBSERVATIONS.values():
        return
    name = name_of(type(own))
    try:
        again = type(own)(**json.loads(json.dumps(_settings(own), allow_nan=False)))
    except Exception as error:  # whatever its own code raises
        raise SettingsError(
            f"the observation model {name} could not be loaded back ({brief(error)}): make it a dataclass "
            "with a name, whose fields are JSON values"
        ) from error
    if again != own:
        raise SettingsError(
            f"the observation model {name} could not be loaded back: made again of its fields, it is not "
            "equal to itself; make it a dataclass whose fields are JSON values"
        )


def observation_to_config(model: ObservationModel) -> dict[str, Any]:
    """Its name, or ``package:Class`` of one's own, and its settings, as JSON values."""
    known = type(model) in OBSERVATIONS.values()
    return {"name": model.name if known else name_of(type(model)), **_settings(model)}


def observation_from_config(config: Mapping[str, Any], passed: OwnObservations = None) -> ObservationModel:
    """The inverse of :func:`observation_to_config`; a class of a person's own must be passed.

    >>> observation_from_config(observation_to_config(Gaussian(scale=None)))
    Gaussian(scale=None, floor=0.01)
    """
    settings = dict(config)
    if "name" not in settings:
        raise SettingsError(f"an observation model's config needs a 'name'; got {settings}.")
    name = settings.pop("name")
    if not is_own_name(name):
        return observation(name, **settings)
    given = () if passed is None else passed if isinstance(passed, Sequence) else (passed,)
    kind = pick(name, given, what="observation model", argument="observation", option="--observation")
    return kind(**settings)


def _settings(model: ObservationModel) -> dict[str, Any]:
    return {name: value for name, value in model.to_config().items() if name != "name"}
