"""Models by name, models of a person's own, and how either is described in a file and made again."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

import torch

from dissensus.errors import ArtifactError, SettingsError, brief
from dissensus.models.contract import GenerativeModel
from dissensus.models.observation import ObservationModel
from dissensus.models.vae import VAE
from dissensus.own_code import is_own_name, name_of, pick

__all__ = [
    "AUTO",
    "MODELS",
    "Model",
    "OwnModels",
    "Shapes",
    "build_model",
    "check_model",
    "model_from_config",
    "model_to_config",
    "shapes_of",
]

AUTO = "auto"
MODELS: Mapping[str, type[GenerativeModel]] = MappingProxyType({"vae": VAE})
"""Every family of models in this package, by name."""

Model: TypeAlias = str | GenerativeModel | type[GenerativeModel]
OwnModels: TypeAlias = GenerativeModel | type[GenerativeModel] | Sequence[type[GenerativeModel]] | None
"""What is passed when a detector is loaded: a model of one's own, or several of which it takes its own."""
Shapes: TypeAlias = dict[str, dict[str, tuple[int, ...]]]
"""Part → parameter → shape."""


def check_model(model: object) -> None:
    """Refuse what is no model, and what a saved detector could not be made of again."""
    if isinstance(model, str):
        if model not in (AUTO, *MODELS):
            raise SettingsError(f"there is no model {model!r}; choose one of {', '.join((AUTO, *MODELS))}")
    elif isinstance(model, type) and issubclass(model, GenerativeModel):
        name_of(model)
    elif isinstance(model, GenerativeModel):
        _check_described(model)
    else:
        raise SettingsError(
            f"model={model!r} is none: choose one of {', '.join((AUTO, *MODELS))}, or pass an object or a "
            "class that inherits from dissensus.models.GenerativeModel"
        )


def build_model(
    model: Model, shape: Sequence[int], *, clip: float | None, generator: torch.Generator
) -> GenerativeModel:
    """Return a new model for inputs of this shape, (C, H, W) or (D,); a person's own object is copied.

    ``clip`` is how far out, in deviations, values lie that the model will be trained on.
    """
    shape = tuple(shape)
    if isinstance(model, GenerativeModel):
        own = copy.deepcopy(model)
    elif isinstance(model, str):
        own = MODELS["vae" if model == AUTO else model].for_inputs(shape, clip=clip, generator=generator)
    else:
        try:
            own = model.for_inputs(shape, clip=clip, generator=generator)
        except TypeError as error:
            raise SettingsError(
                f"{model.__name__} cannot be made for inputs of shape {shape} ({brief(error)}): give it "
                "for_inputs(), or pass an object"
            ) from error
        _check_described(own)
    if tuple(own.input_shape) != shape:
        raise SettingsError(
            f"the model {type(own).__name__} takes inputs of shape {tuple(own.input_shape)}, and X holds "
            f"inputs of shape {shape}"
        )
    return own


def model_to_config(model: GenerativeModel) -> dict[str, Any]:
    """Return a model's architecture as JSON values: its name, or ``package:Class``, and its arguments."""
    return {"model": _named(type(model)), "config": model.config()}


def model_from_config(
    config: Mapping[str, Any],
    passed: OwnModels = None,
    *,
    observation: ObservationModel | type[ObservationModel] | None = None,
) -> GenerativeModel:
    """Return the model that a file describes, without weights; classes of one's own must be passed."""
    kind = _kind(config["model"], passed)
    if issubclass(kind, VAE) and observation is not None:
        return kind.from_config(config["config"], observation=observation)
    return kind.from_config(config["config"])


def shapes_of(model: GenerativeModel) -> Shapes:
    """Names and shapes of the trainable weights of each part."""
    return {
        part: {name: tuple(p.shape) for name, p in module.named_parameters() if p.requires_grad}
        for part, module in model.parts().items()
    }


def _named(kind: type[GenerativeModel]) -> str:
    return next((name for name, known in MODELS.items() if known is kind), None) or name_of(kind)


def _kind(name: object, passed: OwnModels) -> type[GenerativeModel]:
    if is_own_name(name):
        given = () if passed is None else passed if isinstance(passed, Sequence) else (passed,)
        return pick(str(name), given, what="model", argument="model", option="--model")
    if name not in MODELS:
        raise ArtifactError(f"there is no model {str(name)[:99]!r} here: upgrade dissensus")
    return MODELS[str(name)]


def _check_described(model: GenerativeModel) -> None:
    """Refuse a model whose description does not make the same architecture again."""
    kind = type(model)
    name = _named(kind)
    try:
        config = json.loads(json.dumps(model.config()))
        with torch.device("meta"):
            again = kind.from_config(config)
    except Exception as error:  # whatever its methods raise
        raise SettingsError(
            f"the model {name} could not be loaded back ({brief(error)}): give it config(), which returns "
            "JSON values, and from_config(), which makes the same architecture of them"
        ) from error
    if shapes_of(again) != shapes_of(model):
        raise SettingsError(
            f"the model {name} could not be loaded back: from_config(config()) has other weights than it"
        )
