"""Models by name, models of a person's own, and how either is described in a file and made again."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from inspect import signature
from typing import Any, TypeAlias

import torch
from torch import Tensor

from dissensus.errors import ArtifactError, DissensusError, SettingsError, brief
from dissensus.homes import Homes
from dissensus.models.contract import GenerativeModel
from dissensus.models.observation import OwnObservations
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
    "model_name",
    "model_to_config",
    "shapes_of",
]

AUTO = "auto"
_HOMES = {
    "vae": "vae:VAE",
}
MODELS: Mapping[str, type[GenerativeModel]] = Homes("dissensus.models", _HOMES)
"""Every family of models in this package, by name."""

Model: TypeAlias = str | GenerativeModel | type[GenerativeModel]
OwnModels: TypeAlias = (
    GenerativeModel | type[GenerativeModel] | Sequence[GenerativeModel | type[GenerativeModel]] | None
)
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
        own = _made_for_inputs(model, shape, clip=clip, generator=generator)
    if tuple(own.input_shape) != shape:
        raise SettingsError(
            f"the model {type(own).__name__} takes inputs of shape {tuple(own.input_shape)}, and X holds "
            f"inputs of shape {shape}"
        )
    return own


def model_to_config(model: GenerativeModel) -> dict[str, Any]:
    """Return a model's architecture as JSON values: its name, or ``package:Class``, and its arguments."""
    return {"model": model_name(type(model)), "config": model.config()}


def model_from_config(
    config: Mapping[str, Any],
    passed: OwnModels = None,
    *,
    observation: OwnObservations = None,
) -> GenerativeModel:
    """Return the model that a file describes, without weights; classes of one's own must be passed."""
    return _made(_kind(config["model"], passed), config["config"], observation)


def model_name(kind: type[GenerativeModel]) -> str:
    """Return the name of a family of the package, or ``package:Class`` of a class of a person's own."""
    return next((name for name, known in MODELS.items() if known is kind), None) or name_of(kind)


def shapes_of(model: GenerativeModel) -> Shapes:
    """Names and shapes of the trainable weights of each part."""
    return {
        part: {name: tuple(p.shape) for name, p in module.named_parameters() if p.requires_grad}
        for part, module in model.parts().items()
    }


def _kind(name: object, passed: OwnModels) -> type[GenerativeModel]:
    if is_own_name(name):
        given = () if passed is None else passed if isinstance(passed, Sequence) else (passed,)
        return pick(str(name), given, what="model", argument="model", option="--model")
    if name not in MODELS:
        raise ArtifactError(f"there is no model {str(name)[:99]!r} here: upgrade dissensus")
    return MODELS[str(name)]


def _made(
    kind: type[GenerativeModel], config: Mapping[str, Any], observation: OwnObservations
) -> GenerativeModel:
    """The model of a description; observation models go to those classes that take them, as VAEs do."""
    if "observation" in signature(kind.from_config).parameters:
        return kind.from_config(config, observation=observation)  # type: ignore[call-arg]
    return kind.from_config(config)


def _made_for_inputs(
    kind: type[GenerativeModel], shape: tuple[int, ...], *, clip: float | None, generator: torch.Generator
) -> GenerativeModel:
    """An object of a person's own class, which can be loaded back."""
    try:
        own = kind.for_inputs(shape, clip=clip, generator=generator)
    except DissensusError:
        raise
    except Exception as error:  # whatever its own code raises
        raise SettingsError(
            f"{kind.__name__} cannot be made for inputs of shape {shape} ({brief(error)}): give it "
            "for_inputs(), or pass an object"
        ) from error
    if not isinstance(own, kind):
        raise SettingsError(
            f"{kind.__name__}.for_inputs() makes a {type(own).__name__}: give {kind.__name__} a for_inputs() "
            "of its own, or pass an object"
        )
    _check_described(own)
    return own


def _check_described(model: GenerativeModel) -> None:
    """Refuse a model whose description does not make the same architecture again."""
    kind = type(model)
    name = model_name(kind)
    observation = getattr(model, "observation", None)
    try:
        config = json.loads(json.dumps(model.config(), allow_nan=False))
        with torch.random.fork_rng(devices=[]):  # layers are born with weights from the global generator
            again = _made(kind, config, observation)
            with torch.device("meta"):
                empty = _made(kind, config, observation)
    except Exception as error:  # whatever its methods raise
        raise SettingsError(
            f"the model {name} could not be loaded back ({brief(error)}): give it config(), which returns "
            "JSON values, and from_config(), which makes the same architecture of them, also on torch's "
            '"meta" device'
        ) from error
    beginning = f"the model {name} could not be loaded back: from_config(config())"
    if type(again) is not kind:
        raise SettingsError(
            f"{beginning} makes a {type(again).__name__}: give {kind.__name__} a from_config() of its own"
        )
    if shapes_of(again) != shapes_of(model) or shapes_of(empty) != shapes_of(model):
        raise SettingsError(f"{beginning} has other weights than it")
    if tuple(again.input_shape) != tuple(model.input_shape):
        raise SettingsError(f"{beginning} takes inputs of another shape than it")
    fixed, made = _fixed(model), _fixed(again)
    for tensor in sorted(fixed.keys() | made.keys()):
        if tensor not in made or tensor not in fixed or not torch.equal(fixed[tensor], made[tensor]):
            raise SettingsError(
                f"{beginning} has another {tensor} than it, and what is not trained is not saved: make it of "
                "the config"
            )
    try:
        json.dumps(model.facts(), allow_nan=False)
    except Exception as error:  # whatever its method raises
        raise SettingsError(
            f"what the model {name} says in facts() must be JSON values by name ({brief(error)})"
        ) from error


def _fixed(model: GenerativeModel) -> dict[str, Tensor]:
    """What is no trained weight: buffers and frozen parameters, by name."""
    frozen = {name: weight for name, weight in model.named_parameters() if not weight.requires_grad}
    return {name: tensor.detach().cpu() for name, tensor in (frozen | dict(model.named_buffers())).items()}
