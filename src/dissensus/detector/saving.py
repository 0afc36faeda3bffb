"""A fitted detector as an artefact, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from dissensus.detector.card import model_card
from dissensus.detector.learnt import Learnt
from dissensus.detector.measuring import available_statistics, needs_one_a_call
from dissensus.detector.posterior import posterior_from_config, posterior_to_config
from dissensus.detector.settings import find_device
from dissensus.detector.statistic import OwnScores, restored_score, score_from_config, score_to_config
from dissensus.detector.trust import check_calibration, check_claims, check_model
from dissensus.errors import ArtifactError
from dissensus.explain import Examples, first_codes
from dissensus.inputs import Preprocessor, restore_preprocessor
from dissensus.likelihood import several_in_a_chain
from dissensus.models import (
    GenerativeModel,
    ObservationModel,
    model_to_config,
    observation_from_config,
    observation_to_config,
)
from dissensus.models.inputs import to_tensor
from dissensus.persistence import Artifact
from dissensus.posterior import WeightDraws
from dissensus.scores import Score, is_built_in

if TYPE_CHECKING:
    from dissensus.detector.estimator import Detector

__all__ = ["kind_of", "restored", "to_artifact"]

_NOT_SAVED = ("device", "encoder", "decoder", "model")
"""Arguments that mean nothing on another machine, or are described elsewhere in the file."""


def to_artifact(detector: Detector) -> Artifact:
    """Everything a fitted detector needs to score and to decide elsewhere."""
    learnt = detector.learnt_
    arrays: dict[str, NDArray[Any]] = {}
    arrays |= {f"score/{name}": array for name, array in learnt.score.state().items()}
    arrays |= {f"statistics/{name}": values for name, values in learnt.calibration.items()}
    if len(learnt.examples.inputs):
        arrays |= {"examples/inputs": learnt.examples.inputs, "examples/codes": learnt.examples.codes}
    arrays |= learnt.preprocessor.arrays()
    config = {
        "kind": type(detector).__name__,
        **learnt.preprocessor.config(),
        "fitted_rows": dict(learnt.rows),
        "settings": _settings(detector),
        "score": score_to_config(learnt.score),
        "model": model_to_config(learnt.model),
        "seed": learnt.seed,
        "samples": learnt.samples,
        "proposal": learnt.proposal,
        "noise_floor": learnt.noise_floor,
    }
    return Artifact(config, learnt.draws, arrays, model_card(detector))


def kind_of(config: Mapping[str, Any], asked: type[Detector]) -> type[Detector]:
    """The class that a file is of, which must be the one that was asked to load it, or inherit from it."""
    from dissensus.detector.bayesian_vae import BayesianVAE
    from dissensus.detector.estimator import Detector

    kinds: dict[str, type[Detector]] = {kind.__name__: kind for kind in (Detector, BayesianVAE, asked)}
    found = kinds.get(config["kind"])
    if found is None:
        raise ArtifactError(f"it is of the class {str(config['kind'])[:99]!r}: load it with that class")
    if not issubclass(found, asked):
        raise ArtifactError(f"it is no {asked.__name__}: load it with {found.__name__}.load")
    return found


def restored(
    kind: type[Detector],
    artifact: Artifact,
    *,
    device: str,
    statistic: OwnScores,
    own: Mapping[str, Any],
) -> Detector:
    """The inverse of :func:`to_artifact`; raises anything at all on what is none."""
    config, arrays, draws = artifact.config, artifact.calibration, artifact.draws
    check_claims(config, draws)
    with torch.device("meta"):  # a claim takes no memory until the draws bear it out
        check_model(kind._saved_model(config["model"], own), draws)
    model = kind._saved_model(config["model"], own)
    check_model(model, draws)
    score = score_from_config(config["score"], statistic)
    arguments = _arguments(config, score, own)
    channels, *sides = model.input_shape  # of rows: their length, and no sides
    preprocessor = restore_preprocessor(config, arrays, (*sides, channels), resize=arguments["resize"])
    available = available_statistics(model, preprocessor.shape, several=several_in_a_chain(model, draws))
    calibration = _below("statistics/", arrays)
    check_calibration(calibration, score.name)
    asked: dict[str, Any] = {"samples": config["samples"], "seed": config["seed"]}
    detector = kind(**arguments, device=device, **kind._own_arguments(model, own))
    detector._check()
    detector._take(
        Learnt(
            preprocessor=preprocessor,
            model=model,
            draws=draws,
            seed=config["seed"],
            samples=config["samples"],
            proposal=config["proposal"],
            one_a_call=needs_one_a_call(preprocessor, model, draws, **asked, device=find_device(device)),
            score=restored_score(score, _below("score/", arrays), available, draws=len(draws)),
            calibration=calibration,
            examples=_examples(arrays, preprocessor, model, draws),
            rows={str(part): int(count) for part, count in config["fitted_rows"].items()},
            noise_floor=float(config["noise_floor"]),
        )
    )
    return detector


def _settings(detector: Detector) -> dict[str, Any]:
    """The constructor's arguments that mean something on another machine, as JSON values."""
    settings = detector.get_params(deep=False)
    # What a person has set since the fit waits for another one.
    settings |= {"random_state": detector.seed_, "samples": detector.learnt_.samples}
    by_name = isinstance(detector.statistic, str) and is_built_in(detector.score_)
    settings["statistic"] = detector.statistic_ if by_name else None
    settings["posterior"] = posterior_to_config(detector.posterior)
    if isinstance(settings.get("observation"), ObservationModel):
        settings["observation"] = observation_to_config(settings["observation"])
    return {name: value for name, value in settings.items() if name not in _NOT_SAVED}


def _arguments(config: Mapping[str, Any], score: Score, own: Mapping[str, Any]) -> dict[str, Any]:
    """The inverse of :func:`_settings`."""
    settings = dict(config["settings"])
    for pair in {"widths", "resize"} & set(settings):
        settings[pair] = None if settings[pair] is None else tuple(settings[pair])
    if isinstance(settings.get("observation"), dict):
        settings["observation"] = observation_from_config(settings["observation"], own["observation"])
    settings["posterior"] = posterior_from_config(settings["posterior"])
    if settings["statistic"] is None:  # it was an object
        settings["statistic"] = score
    elif settings["statistic"] != config["score"]["score"]:
        raise ArtifactError("its statistic is not the name of its score: save it anew")
    return settings


def _below(folder: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {name.removeprefix(folder): array for name, array in arrays.items() if name.startswith(folder)}


def _examples(
    arrays: Mapping[str, NDArray[Any]], preprocessor: Preprocessor, model: GenerativeModel, draws: WeightDraws
) -> Examples:
    """The training inputs that were kept, if any."""
    made_up = to_tensor(preprocessor.transform(preprocessor.blank(1)))
    features = first_codes(model, draws, made_up).shape[1]
    inputs = arrays.get("examples/inputs", np.empty((0, *preprocessor.shape)))
    codes = arrays.get("examples/codes", np.empty((0, features), np.float32))
    if inputs.shape[1:] != preprocessor.shape or codes.shape != (len(inputs), features):
        raise ArtifactError("its examples are not of the inputs it takes: save it anew")
    return Examples(inputs, codes)
