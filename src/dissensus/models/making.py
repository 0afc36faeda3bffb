"""The model that a person asks for, by name, as a class or as an object, made for the inputs there are."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TypeAlias

import torch

from dissensus.errors import DissensusError, SettingsError, brief
from dissensus.models.contract import GenerativeModel, Recommended
from dissensus.models.described import check_described
from dissensus.models.registry import AUTO, FOR_PICTURES, FOR_ROWS, MODELS
from dissensus.own_code import name_of

__all__ = ["Model", "build_model", "check_model", "recommended_for"]

Model: TypeAlias = str | GenerativeModel | type[GenerativeModel]


def check_model(model: object) -> None:
    """Refuse what is no model, and what a saved detector could not be made of again."""
    if isinstance(model, str):
        if model not in (AUTO, *MODELS):
            raise SettingsError(f"there is no model {model!r}; choose one of {', '.join((AUTO, *MODELS))}")
    elif isinstance(model, type) and issubclass(model, GenerativeModel):
        name_of(model)
    elif isinstance(model, GenerativeModel):
        check_described(model)
    else:
        raise SettingsError(
            f"model={model!r} is no model: choose one of {', '.join((AUTO, *MODELS))}, or pass an object or "
            "a class that inherits from dissensus.models.GenerativeModel"
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
        own = _family(model, rows=len(shape) == 1).for_inputs(shape, clip=clip, generator=generator)
    else:
        own = _made_for_inputs(model, shape, clip=clip, generator=generator)
    if tuple(own.input_shape) != shape:
        raise SettingsError(
            f"the model {type(own).__name__} takes inputs of shape {tuple(own.input_shape)}, and X holds "
            f"inputs of shape {shape}"
        )
    return own


def recommended_for(model: Model, *, rows: bool) -> Recommended:
    """Return how the weights of a model for rows, or for pictures, are drawn where nobody says otherwise."""
    return (_family(model, rows=rows) if isinstance(model, str) else model).recommended


def _family(name: str, *, rows: bool) -> type[GenerativeModel]:
    """The class of a name; ``"auto"`` is what suits rows, or pictures."""
    suited = FOR_ROWS if rows else FOR_PICTURES
    return MODELS[suited if name == AUTO else name]


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
    check_described(own)
    return own
