"""A saved detector's claims, checked before memory or time is spent on them.

Its digests are right if whoever wrote it wanted them to be: what it says is believed only as far as its own
weights bear it out, and what it says beside that is refused, for nobody could tell what it was meant to do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from typing import Any, get_args

import numpy as np
import torch
from numpy.typing import NDArray

from dissensus.detector.confirming import CONFIRMED, CONFIRMED_ARRAYS
from dissensus.detector.settings import check_contamination
from dissensus.errors import ArtifactError
from dissensus.latent import LATENT_CODES
from dissensus.likelihood import Proposal
from dissensus.models import MODELS, GenerativeModel, shapes_of
from dissensus.posterior import WeightDraws

__all__ = [
    "LEFT_OUT",
    "LEVELS",
    "check_arrays",
    "check_calibration",
    "check_claims",
    "check_keys",
    "check_model",
    "claimed_model",
]

PARTS = (
    "kind",
    "input",
    "preprocessing",
    "table",
    "fitted_rows",
    "settings",
    "score",
    "model",
    "seed",
    "samples",
    "proposal",
    "noise_floor",
)
"""Of the description of a detector."""
EMBEDDER, LEFT_OUT, LEVELS = "embedder", "left_out", "efforts"
"""More, of those that have them."""
OPTIONAL = (EMBEDDER, LEFT_OUT, LEVELS, CONFIRMED)
LARGEST_INPUT = 1 << 24  # numbers in one input, a picture of 4096 × 4096
MOST_AXES, MOST_SETTINGS = 8, 64  # of an input; in the description of a model beside its layers
MOST_SAMPLES = 1 << 16  # K; beyond, one score would take minutes


def check_claims(config: Mapping[str, Any], draws: WeightDraws) -> None:
    """Refuses a configuration that would take memory or time which its draws do not bear out."""
    embedded = EMBEDDER in config
    check_keys(config, (*PARTS, *(part for part in OPTIONAL if part in config)), "description")
    for part, names in (
        *([(EMBEDDER, ("embedder", "config", "sha256"))] if embedded else []),
        *([(LEFT_OUT, ("contamination", "train", "validation"))] if LEFT_OUT in config else []),
        *([(LEVELS, ("effort", "levels"))] if LEVELS in config else []),
        *([(CONFIRMED, ("joined",))] if CONFIRMED in config else []),
        ("score", ("score", "config")),
        ("model", ("model", "config")),
        ("fitted_rows", ("train", "validation", "calibration")),
    ):
        check_keys(config[part], names, part)
    if not embedded or config["input"]["shape"] != []:  # what only an embedder can read has no shape
        _check_size(config["input"]["shape"])
    _check_numbers(config)
    _check_counts(draws)
    if config["model"]["model"] not in MODELS:
        return  # what code of a person's own makes of its sizes is its own affair
    # Every layer has a weight of its own: a longer description could not be told from an endless one.
    tensors = sum(len(part.stacks) for part in draws.parts.values())
    if _values(config["model"]["config"]) > tensors + MOST_SETTINGS:
        raise ArtifactError("the draws are not of this model: it has more layers than they")
    if "input_shape" in config["model"]["config"]:  # as a VAE calls it
        _check_size(config["model"]["config"]["input_shape"])


def check_keys(values: object, known: Collection[str], what: str) -> None:
    """Refuses a part of the configuration that has other keys than these: more, or fewer."""
    if not isinstance(values, Mapping):
        raise ArtifactError(f"its {what} is no mapping: save the gate again")
    for wrong, verb in ((set(values) - set(known), "has"), (set(known) - set(values), "lacks")):
        if wrong:
            raise ArtifactError(
                f"its {what} {verb} {str(min(wrong))[:99]!r}, which "
                f"{'no detector has' if verb == 'has' else 'every detector has'}: save the gate again"
            )


def claimed_model(build: Callable[[], GenerativeModel], config: Mapping[str, Any]) -> GenerativeModel:
    """Return the model that a configuration describes on torch's meta device, where sizes take no memory."""
    try:
        with torch.device("meta"):
            model = build()
            shapes_of(model)
    except (OverflowError, RuntimeError, MemoryError) as error:
        raise ArtifactError(
            "it claims a model of sizes that no machine can hold: save the gate again"
        ) from error
    if config["model"] in MODELS:
        unknown = set(config["config"]) - set(model.config())
        if unknown:
            raise ArtifactError(
                f"its model has {str(min(unknown))[:99]!r}, which no such model has: save the gate again"
            )
    return model


def check_model(model: GenerativeModel, draws: WeightDraws) -> None:
    """Refuses draws that do not fill the model exactly: what they left would score as chance made it."""
    _check_shapes(draws, shapes_of(model))


def check_arrays(names: Collection[str], preprocessor: Collection[str], levels: Collection[str]) -> None:
    """Refuses arrays that no part of a detector takes; those of scores and statistics are checked by them."""
    known = {*preprocessor, "examples/inputs", "examples/codes", *LATENT_CODES, *CONFIRMED_ARRAYS}
    folders = tuple(
        f"{own}{part}/" for own in ("", *(f"{x}/" for x in levels)) for part in ("score", "statistics")
    )
    for name in sorted(names):
        if name not in known and not name.startswith(folders):
            raise ArtifactError(f"it has an array {name[:99]!r}, which no detector has: save the gate again")


def check_calibration(calibration: Mapping[str, NDArray[Any]], own: str, known: Collection[str]) -> None:
    """Refuses statistics of calibration inputs that no fit could have left."""
    scores = calibration.get(own)
    if scores is None or scores.dtype != np.float64 or not scores.size or np.isnan(scores).any():
        raise ArtifactError("its calibration scores are no list of numbers: save the gate again")
    for name, values in calibration.items():
        if name not in known:
            raise ArtifactError(
                f"it has a statistic {name[:99]!r}, which is not known here: save the gate again"
            )
        if values.ndim != 1 or values.dtype != np.float64 or len(values) != len(scores):
            raise ArtifactError(
                f"its calibration statistic {name!r} is no list of {len(scores)} numbers: save the gate again"
            )


def _check_size(shape: object) -> None:
    """Of an input, or of what pictures are brought to."""
    if not isinstance(shape, list) or not 0 < len(shape) <= MOST_AXES:
        raise ArtifactError("it claims sizes that are no whole numbers: save the gate again")
    if any(type(size) is not int or size < 1 for size in shape):
        raise ArtifactError("it claims sizes that are no whole numbers: save the gate again")
    if math.prod(shape) > LARGEST_INPUT:
        raise ArtifactError(f"it claims inputs of more than {LARGEST_INPUT} numbers: save the gate again")


def _check_numbers(config: Mapping[str, Any]) -> None:
    samples, seed, floor = (config[name] for name in ("samples", "seed", "noise_floor"))
    if type(samples) is not int or not 1 <= samples <= MOST_SAMPLES:
        raise ArtifactError(
            f"it claims {str(samples)[:20]} samples an input, not 1 to {MOST_SAMPLES}: save the gate again"
        )
    if config["proposal"] not in get_args(Proposal):
        raise ArtifactError("its proposal is not known here: upgrade dissensus")
    if type(seed) is not int or type(floor) not in (int, float):
        raise ArtifactError("its seed or noise_floor is no number: save the gate again")
    if any(type(count) is not int or count < 0 for count in config["fitted_rows"].values()):
        raise ArtifactError("its fitted_rows are no whole numbers: save the gate again")
    if LEFT_OUT in config:
        _check_left_out(config[LEFT_OUT])
    resize = config["settings"]["resize"]
    if resize is not None:
        _check_size(resize)
        if len(resize) != 2:
            raise ArtifactError(
                "it claims to bring pictures to a size that is not a height and a width: save the gate again"
            )


def _check_left_out(left_out: Mapping[str, Any]) -> None:
    share, *counts = (left_out[name] for name in ("contamination", "train", "validation"))
    if type(share) is not float or any(type(count) is not int or count < 0 for count in counts):
        raise ArtifactError("its left_out is no share with whole numbers of inputs: save the gate again")
    check_contamination(share)


def _values(value: object) -> int:
    """How many values there are in nested lists and mappings."""
    if isinstance(value, Mapping):
        return sum(map(_values, value.values()))
    return sum(map(_values, value)) if isinstance(value, list) else 1


def _check_counts(draws: WeightDraws) -> None:
    M = len(draws)
    for numbers in (draws.chain, draws.epoch, *(part.of for part in draws.parts.values())):
        if numbers.dtype != np.int64 or numbers.shape != (M,) or not M:
            raise ArtifactError("its lists of chains, epochs and weights do not match: save the gate again")
    for name, part in draws.parts.items():
        # All of 0, 1, …, E − 1 occur. The bound on E comes first, so that no long list is made for a wild
        # number.
        if part.of.min() < 0 or part.of.max() >= M or len(np.unique(part.of)) != part.of.max() + 1:
            raise ArtifactError(
                f"its draws name weights of the {name} that are not there: save the gate again"
            )


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
                raise ArtifactError(f"the {part}'s {name} holds what is no number: save the gate again")
