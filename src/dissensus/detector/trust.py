"""A saved detector's claims, checked before memory or time is spent on them.

Its digests are right if whoever wrote it wanted them to be: what it says is believed only as far as its own
weights bear it out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from dissensus.errors import ArtifactError
from dissensus.models import GenerativeModel, parameter_shapes
from dissensus.posterior import WeightDraws

__all__ = ["check_claims", "check_network", "check_scores"]

LARGEST_INPUT = 1 << 24  # numbers in one input, a picture of 4096 × 4096
MOST_SAMPLES = 1 << 16  # K; beyond, one score would take minutes


def check_claims(config: Mapping[str, Any], draws: WeightDraws) -> None:
    """Refuses a configuration whose networks are not those of the draws, before they are built."""
    model = config["model"]
    sizes = [*model["input_shape"], model["latent_size"], *(model.get("widths") or [1])]
    if any(type(size) is not int or size < 1 for size in (*sizes, (model.get("hidden") or 0) + 1)):
        raise ArtifactError("it claims sizes that are no whole numbers: save it anew")
    if math.prod(model["input_shape"]) > LARGEST_INPUT:
        raise ArtifactError(f"it claims inputs of more than {LARGEST_INPUT} numbers: save it anew")
    if config["settings"]["samples"] > MOST_SAMPLES:
        raise ArtifactError(f"it claims more than {MOST_SAMPLES} samples an input: save it anew")
    if type(config["seed"]) is not int or not isinstance(config["noise_floor"], int | float):
        raise ArtifactError("its seed or noise_floor is no number: save it anew")
    _check_counts(draws)
    # Every layer has a weight of its own: a longer list could not be told from an endless one.
    most = max((len(part.stacks) for part in draws.parts.values()), default=0)
    if len(model.get("widths") or ()) > most:
        raise ArtifactError("the draws are not of this model: it has more layers than they")
    shapes = parameter_shapes(model)
    if shapes is not None:
        _check_shapes(draws, shapes)


def check_network(model: GenerativeModel, draws: WeightDraws) -> None:
    """Refuses draws that do not fill the model exactly: what they left would score as chance made it."""
    _check_shapes(
        draws,
        {
            part: {name: tuple(weight.shape) for name, weight in module.named_parameters()}
            for part, module in model.parts().items()
        },
    )


def check_scores(scores: NDArray[Any]) -> None:
    """Refuses calibration scores that no fit could have left."""
    if scores.ndim != 1 or scores.dtype != np.float64 or not len(scores) or np.isnan(scores).any():
        raise ArtifactError("its calibration scores are no list of numbers: save it anew")


def _check_counts(draws: WeightDraws) -> None:
    M = len(draws)
    for numbers in (draws.chain, draws.epoch, *(part.of for part in draws.parts.values())):
        if numbers.dtype != np.int64 or numbers.shape != (M,) or not M:
            raise ArtifactError("its lists of chains, epochs and weights do not match: save it anew")
    for name, part in draws.parts.items():
        # All of 0, 1, …, E − 1 occur. The bound on E comes first, so that no long list is made for a wild
        # number.
        if part.of.min() < 0 or part.of.max() >= M or len(np.unique(part.of)) != part.of.max() + 1:
            raise ArtifactError(f"its draws name weights of the {name} that are not there: save it anew")


def _check_shapes(draws: WeightDraws, parts: Mapping[str, Mapping[str, tuple[int, ...]]]) -> None:
    """Of every part by name, and of every parameter of a part."""
    if set(draws.parts) != set(parts):
        raise ArtifactError("the draws are not of this model: pass the networks it was fitted with")
    for part, shapes in parts.items():
        own = draws.parts[part]
        count = int(own.of.max()) + 1
        found = {name: tuple(stack.shape) for name, stack in own.stacks.items()}
        if {name: (count, *shape) for name, shape in shapes.items()} != found:
            raise ArtifactError(f"the draws are not of this {part}: pass the networks it was fitted with")
        for name, weights in own.stacks.items():
            if weights.dtype != torch.float32 or not torch.isfinite(weights).all():
                raise ArtifactError(f"the {part}'s {name} holds what is no number: save it anew")
