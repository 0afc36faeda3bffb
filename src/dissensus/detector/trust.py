"""A saved detector's claims, checked before memory or time is spent on them.

Its digests are right if whoever wrote it wanted them to be: what it says is believed only as far as its own
weights bear it out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, get_args

import numpy as np
import torch
from numpy.typing import NDArray

from dissensus.errors import ArtifactError
from dissensus.likelihood import Proposal
from dissensus.models import MODELS, GenerativeModel, shapes_of
from dissensus.posterior import WeightDraws

__all__ = ["check_calibration", "check_claims", "check_model"]

LARGEST_INPUT = 1 << 24  # numbers in one input, a picture of 4096 × 4096
MOST_AXES, MOST_SETTINGS = 8, 64  # of an input; in the description of a model beside its layers
MOST_SAMPLES = 1 << 16  # K; beyond, one score would take minutes


def check_claims(config: Mapping[str, Any], draws: WeightDraws) -> None:
    """Refuses a configuration that would take memory or time which its draws do not bear out."""
    if math.prod(_sizes(config["input"]["shape"])) > LARGEST_INPUT:
        raise ArtifactError(f"it claims inputs of more than {LARGEST_INPUT} numbers: save it anew")
    samples = config["samples"]
    if type(samples) is not int or not 1 <= samples <= MOST_SAMPLES:
        raise ArtifactError(
            f"it claims {str(samples)[:20]} samples an input, not 1 to {MOST_SAMPLES}: save it anew"
        )
    if config["proposal"] not in get_args(Proposal):
        raise ArtifactError("its proposal is not known here: upgrade dissensus")
    if type(config["seed"]) is not int or not isinstance(config["noise_floor"], int | float):
        raise ArtifactError("its seed or noise_floor is no number: save it anew")
    resize = config["settings"]["resize"]
    if resize is not None and (len(resize) != 2 or math.prod(_sizes(resize)) > LARGEST_INPUT):
        raise ArtifactError("it claims to bring pictures to a size that is none: save it anew")
    _check_counts(draws)
    # Every layer has a weight of its own: a longer description could not be told from an endless one.
    tensors = sum(len(part.stacks) for part in draws.parts.values())
    if config["model"]["model"] in MODELS and _values(config["model"]) > tensors + MOST_SETTINGS:
        raise ArtifactError("the draws are not of this model: it has more layers than they")


def check_model(model: GenerativeModel, draws: WeightDraws) -> None:
    """Refuses draws that do not fill the model exactly: what they left would score as chance made it."""
    _check_shapes(draws, shapes_of(model))


def check_calibration(calibration: Mapping[str, NDArray[Any]], own: str) -> None:
    """Refuses statistics of calibration inputs that no fit could have left."""
    if any(values.ndim != 1 for values in calibration.values()):
        raise ArtifactError("its calibration statistics are no lists of numbers: save it anew")
    scores = calibration.get(own)
    if scores is None or scores.dtype != np.float64 or not len(scores) or np.isnan(scores).any():
        raise ArtifactError("its calibration scores are no list of numbers: save it anew")


def _sizes(sizes: Sequence[object]) -> list[int]:
    if len(sizes) > MOST_AXES or any(type(size) is not int or size < 1 for size in sizes):
        raise ArtifactError("it claims sizes that are no whole numbers: save it anew")
    return [int(str(size)) for size in sizes]


def _values(value: object) -> int:
    """How many values there are in nested lists and mappings."""
    if isinstance(value, Mapping):
        return sum(map(_values, value.values()))
    return sum(map(_values, value)) if isinstance(value, list) else 1


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
