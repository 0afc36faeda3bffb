"""A model as a file describes it, made again; what could not be is refused before it is trained."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from inspect import signature
from typing import Any, TypeAlias

import torch
from torch import Tensor

from dissensus.errors import ArtifactError, SettingsError, brief
from dissensus.models.contract import GenerativeModel
from dissensus.models.observation import OwnObservations
from dissensus.models.registry import MODELS, model_name
from dissensus.own_code import is_own_name, pick

__all__ = ["OwnModels", "Shapes", "check_described", "model_from_config", "model_to_config", "shapes_of"]

OwnModels: TypeAlias = (
    GenerativeModel | type[GenerativeModel] | Sequence[GenerativeModel | type[GenerativeModel]] | None
)
"""What is passed when a detector is loaded: a model of one's own, or several of which it takes its own."""
Shapes: TypeAlias = dict[str, dict[str, tuple[int, ...]]]
"""Part → parameter → shape."""


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


def check_described(model: GenerativeModel) -> None:
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


def _fixed(model: GenerativeModel) -> dict[str, Tensor]:
    """What is no trained weight: buffers and frozen parameters, by name."""
    frozen = {name: weight for name, weight in model.named_parameters() if not weight.requires_grad}
    return {name: tensor.detach().cpu() for name, tensor in (frozen | dict(model.named_buffers())).items()}
