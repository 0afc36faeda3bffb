"""A fitted detector as an artefact, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dissensus.detector.card import model_card
from dissensus.detector.confirming import CONFIRMED, restored_confirmed
from dissensus.detector.learnt import Learnt, LeftOut
from dissensus.detector.levels import level_arrays, levels_to_config, restored_levels
from dissensus.detector.measuring import available_statistics, needs_one_a_call
from dissensus.detector.posterior import posterior_from_config, posterior_to_config
from dissensus.detector.sampling import Sampler, settled
from dissensus.detector.settings import find_device
from dissensus.detector.statistic import OwnScores, restored_score, score_from_config, score_to_config
from dissensus.detector.trust import (
    LEFT_OUT,
    LEVELS,
    check_arrays,
    check_calibration,
    check_claims,
    check_keys,
    check_model,
    claimed_model,
)
from dissensus.errors import ArtifactError
from dissensus.explain import Examples, first_codes
from dissensus.inputs import Preprocessor, embedder_from_config, restore_preprocessor
from dissensus.latent import LatentCodes
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
from dissensus.scores import SCORES, Score, is_built_in, made_up

if TYPE_CHECKING:
    from dissensus.detector.estimator import Detector

__all__ = ["IN_PARTS", "believed", "described", "kind_of", "restored", "to_artifact"]

IN_PARTS = "Chains"
"""The kind of a file that holds some chains of a fit in parts."""

_AS_FITTED = ("samples", "proposal")
"""Arguments that stand beside the settings as the fit had them; what was set since waits for another fit."""
_NOT_SAVED = (*_AS_FITTED, "effort", "random_state", "device", "encoder", "decoder", "model", "embed")
"""Arguments that mean nothing on another machine, or are described elsewhere in the file."""


def to_artifact(detector: Detector) -> Artifact:
    """Everything a fitted detector needs to score and to decide elsewhere."""
    learnt = detector.learnt_
    arrays: dict[str, NDArray[Any]] = {}
    arrays |= {f"score/{name}": array for name, array in learnt.score.state().items()}
    arrays |= {f"statistics/{name}": values for name, values in learnt.calibration.items()}
    if len(learnt.examples.inputs):
        arrays |= {"examples/inputs": learnt.examples.inputs, "examples/codes": learnt.examples.codes}
    if learnt.codes is not None:
        arrays |= learnt.codes.arrays()
    arrays |= learnt.preprocessor.arrays() | level_arrays(learnt.levels)
    config = {
        **described(detector, learnt.preprocessor, learnt.model, learnt.score, learnt.sampler),
        "fitted_rows": dict(learnt.rows),
        "seed": learnt.seed,
        "samples": learnt.samples,
        "proposal": learnt.proposal,
        "noise_floor": learnt.noise_floor,
    }
    if learnt.left_out is not None:
        config[LEFT_OUT] = asdict(learnt.left_out)
    if learnt.confirmed is not None:
        config[CONFIRMED] = {"joined": learnt.confirmed.joined}
        arrays |= learnt.confirmed.arrays()
    if learnt.levels:
        config[LEVELS] = levels_to_config(learnt.levels, detector.effort)
    return Artifact(config, learnt.draws, arrays, model_card(detector))


def described(
    detector: Detector, preprocessor: Preprocessor, model: GenerativeModel, score: Score, sampler: Sampler
) -> dict[str, Any]:
    """What a detector is, and how it was asked to be fitted, as JSON values."""
    return {
        "kind": type(detector).__name__,
        **preprocessor.config(),
        "settings": _settings(detector, score, sampler),
        "score": score_to_config(score),
        "model": model_to_config(model),
    }


def kind_of(config: Mapping[str, Any], asked: type[Detector]) -> type[Detector]:
    """The class that a file is of, which must be the one that was asked to load it, or inherit from it."""
    from dissensus.detector.bayesian_flow import BayesianFlow
    from dissensus.detector.bayesian_vae import BayesianVAE
    from dissensus.detector.estimator import Detector

    known = (Detector, BayesianFlow, BayesianVAE, asked)
    kinds: dict[str, type[Detector]] = {kind.__name__: kind for kind in known}
    if config["kind"] == IN_PARTS:
        raise ArtifactError(
            "it holds some chains of a fit in parts, which are no gate yet: join all parts "
            "(dissensus join, dissensus.detector.join_chains)"
        )
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
    """The inverse of :func:`to_artifact`; raises any kind of error if the files are not a complete gate.

    Nothing is believed before it is borne out: the model takes no memory until the draws fill it, and runs no
    inputs until the arrays are of them.
    """
    config, arrays, draws = artifact.config, artifact.calibration, artifact.draws
    detector, preprocessor, model, score = believed(
        kind, config, arrays, draws, device=device, statistic=statistic, own=own
    )
    check_arrays(arrays, preprocessor.arrays(), config.get(LEVELS, {}).get("levels", ()))
    available = available_statistics(model, preprocessor, several=several_in_a_chain(model, draws))
    score = restored_score(score, _below("score/", arrays), available, draws=len(draws))
    calibration = _below("statistics/", arrays)
    parts = score.parts(made_up(score, draws=len(draws), inputs=1))
    check_calibration(calibration, score.name, {score.name, *SCORES, *available.names, *parts})
    asked: dict[str, Any] = {"samples": config["samples"], "seed": config["seed"]}
    detector._check()
    learnt = Learnt(
        preprocessor=preprocessor,
        model=model,
        draws=draws,
        sampler=settled(detector, model.recommended),
        seed=config["seed"],
        samples=config["samples"],
        proposal=config["proposal"],
        one_a_call=needs_one_a_call(preprocessor, model, draws, **asked, device=find_device(device)),
        score=score,
        calibration=calibration,
        examples=_examples(arrays, preprocessor, model, draws),
        rows={str(part): int(count) for part, count in config["fitted_rows"].items()},
        noise_floor=float(config["noise_floor"]),
        left_out=LeftOut(**config[LEFT_OUT]) if LEFT_OUT in config else None,
        codes=LatentCodes.restore(arrays, getattr(model, "latent_size", 0)),
        confirmed=restored_confirmed(
            config.get(CONFIRMED), arrays, preprocessor, len(calibration[score.name])
        ),
    )
    if LEVELS in config:
        levels = restored_levels(config[LEVELS], arrays, learnt, detector.statistic)
        learnt, detector.effort = replace(learnt, levels=levels), config[LEVELS]["effort"]
    detector._take(learnt)
    return detector


def believed(
    kind: type[Detector],
    config: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    draws: WeightDraws,
    *,
    device: str,
    statistic: OwnScores,
    own: Mapping[str, Any],
) -> tuple[Detector, Preprocessor, GenerativeModel, Score]:
    """What a file describes, borne out by its draws: the unfitted detector, and the parts it was fitted with.

    The score has learnt nothing yet.
    """
    check_keys(config["settings"], _settings_of(kind), "settings")
    check_claims(config, draws)
    claimed = claimed_model(lambda: kind._saved_model(config["model"], own), config["model"])
    check_model(claimed, draws)
    score = score_from_config(config["score"], statistic)
    arguments = _arguments(kind, config, score, own)
    channels, *sides = claimed.input_shape  # of rows: their length, and no sides
    embed = embedder_from_config(config["embedder"], own["embed"]) if "embedder" in config else None
    preprocessor = restore_preprocessor(
        config, arrays, (*sides, channels), resize=arguments["resize"], embed=embed
    )
    model = kind._saved_model(config["model"], own)
    check_model(model, draws)
    detector = kind(**arguments, embed=embed, device=device, **kind._own_arguments(model, own))
    return detector, preprocessor, model, score


def _settings(detector: Detector, score: Score, sampler: Sampler) -> dict[str, Any]:
    """The constructor's arguments that mean something on another machine, as JSON values."""
    settings = detector.get_params(deep=False)
    by_name = isinstance(detector.statistic, str) and is_built_in(score)
    settings["statistic"] = score.name if by_name else None
    settings |= vars(sampler)  # not what was left open, nor what was set since
    settings["posterior"] = posterior_to_config(sampler.posterior)
    if isinstance(settings.get("observation"), ObservationModel):
        settings["observation"] = observation_to_config(settings["observation"])
    return {name: settings[name] for name in _settings_of(type(detector))}


def _settings_of(kind: type[Detector]) -> list[str]:
    """The names of the constructor's arguments that are saved as such."""
    return [name for name in kind._get_param_names() if name not in _NOT_SAVED]


def _arguments(
    kind: type[Detector], config: Mapping[str, Any], score: Score, own: Mapping[str, Any]
) -> dict[str, Any]:
    """The inverse of :func:`_settings`."""
    settings = {**config["settings"], "random_state": config["seed"]}
    settings |= {name: config[name] for name in _AS_FITTED if name in kind._get_param_names()}
    for several in {"widths", "hidden", "resize"} & set(settings):
        settings[several] = None if settings[several] is None else tuple(settings[several])
    if isinstance(settings.get("observation"), dict):
        settings["observation"] = observation_from_config(settings["observation"], own["observation"])
    settings["posterior"] = posterior_from_config(settings["posterior"])
    if settings["statistic"] is None:  # it was an object
        settings["statistic"] = score
    elif settings["statistic"] != config["score"]["score"]:
        raise ArtifactError("its statistic is not the name of its score: save the gate again")
    return settings


def _below(folder: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {name.removeprefix(folder): array for name, array in arrays.items() if name.startswith(folder)}


def _examples(
    arrays: Mapping[str, NDArray[Any]], preprocessor: Preprocessor, model: GenerativeModel, draws: WeightDraws
) -> Examples:
    """The training inputs that were kept, if any."""
    made_up = to_tensor(preprocessor.made_up(1, np.random.default_rng(0)))
    features = first_codes(model, draws, made_up).shape[1]
    inputs = arrays.get("examples/inputs", np.empty((0, *preprocessor.seen)))
    codes = arrays.get("examples/codes", np.empty((0, features), np.float32))
    if inputs.shape[1:] != preprocessor.seen or codes.shape != (len(inputs), features):
        raise ArtifactError("its examples are not of the inputs it takes: save the gate again")
    if not (np.isfinite(inputs).all() and np.isfinite(codes).all()):
        raise ArtifactError("its examples hold what is no number: save the gate again")
    return Examples(inputs, codes)
