"""A fitted detector as an artefact, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from dissensus.artifact import Artifact
from dissensus.detector.card import model_card
from dissensus.detector.measuring import available_statistics, needs_one_a_call
from dissensus.detector.posterior import posterior_from_config, posterior_to_config
from dissensus.detector.settings import check_settings
from dissensus.detector.statistic import OwnScores, restored_score, score_from_config, score_to_config
from dissensus.detector.trust import check_claims, check_network, check_scores
from dissensus.errors import ArtifactError
from dissensus.explain import Examples
from dissensus.inputs import restore_preprocessor
from dissensus.likelihood import several_in_a_chain
from dissensus.models import architecture_config, observation_from_config, vae_from_config
from dissensus.scores import Score, is_built_in

if TYPE_CHECKING:
    from dissensus.detector.estimator import BayesianVAE

__all__ = ["restore", "to_artifact"]

_OF_THIS_MACHINE = ("device", "encoder", "decoder")


def to_artifact(detector: BayesianVAE) -> Artifact:
    """Everything a fitted detector needs to score and to decide elsewhere."""
    calibration: dict[str, NDArray[Any]] = {"scores": detector.calibration_scores_}
    calibration |= {f"score/{name}": array for name, array in detector.score_.state().items()}
    calibration |= {f"statistics/{name}": a for name, a in detector.calibration_statistics_.items()}
    if len(detector.examples_.inputs):
        calibration |= {
            "examples/inputs": detector.examples_.inputs,
            "examples/codes": detector.examples_.codes,
        }
    calibration |= detector.preprocessor_.arrays()
    config = {
        **detector.preprocessor_.config(),
        "fitted_rows": detector.fitted_rows_,
        "settings": _settings(detector),
        "score": score_to_config(detector.score_),
        "model": architecture_config(detector.vae_),
        "seed": detector.seed_,
        "noise_floor": detector.noise_floor_,
    }
    return Artifact(config, detector.draws_, calibration, model_card(detector))


def restore(
    kind: type[BayesianVAE],
    artifact: Artifact,
    *,
    device: str,
    encoder: nn.Module | None,
    decoder: nn.Module | None,
    statistic: OwnScores = None,
) -> BayesianVAE:
    """The inverse of :func:`to_artifact`, up to the threshold; raises anything at all on what is none."""
    config, arrays = artifact.config, artifact.calibration
    check_claims(config, artifact.draws)
    settings = dict(config["settings"])
    for pair in ("widths", "resize"):
        settings[pair] = None if settings[pair] is None else tuple(settings[pair])
    if isinstance(settings["observation"], dict):
        settings["observation"] = observation_from_config(settings["observation"])
    settings["posterior"] = posterior_from_config(settings.get("posterior", "sghmc"))
    described = _described_score(config)
    if settings["statistic"] is None:  # it was an object
        settings["statistic"] = score_from_config(described, statistic)
    elif settings["statistic"] != described["score"]:
        raise ArtifactError("its statistic is not the name of its score: save it anew")
    detector = kind(**settings, device=device, encoder=encoder, decoder=decoder)
    check_settings(detector)
    detector.vae_ = vae_from_config(config["model"], encoder=encoder, decoder=decoder)
    detector.draws_ = artifact.draws
    check_network(detector.vae_, detector.draws_)
    channels, *sides = detector.vae_.input_shape  # of rows: their length, and no sides
    detector.preprocessor_ = restore_preprocessor(config, arrays, (*sides, channels), resize=detector.resize)
    detector._set_feature_names()
    detector.seed_, detector.noise_floor_ = config["seed"], config["noise_floor"]
    detector.fitted_rows_ = {str(part): int(count) for part, count in config["fitted_rows"].items()}
    detector.score_ = _score(detector, score_from_config(described, statistic), arrays)
    detector.statistic_ = detector.score_.name
    detector.calibration_scores_ = arrays["scores"]
    check_scores(detector.calibration_scores_)
    detector.calibration_statistics_ = _statistics(detector, arrays)
    detector.examples_ = _examples(detector, arrays)
    detector.one_a_call_ = needs_one_a_call(detector)
    return detector


def _described_score(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what the file says of its score; the first files of format 1 say it in two other places."""
    if "score" in config:
        found: Mapping[str, Any] = config["score"]
        return found
    name = config["settings"]["statistic"]
    return {"score": name, "config": config["fused"] if name == "fused" else {}}


def _score(detector: BayesianVAE, own: Score, arrays: Mapping[str, NDArray[Any]]) -> Score:
    """Return the detector's score with what it has learnt."""
    state = {n.removeprefix("score/"): a for n, a in arrays.items() if n.startswith("score/")}
    available = available_statistics(
        detector.vae_,
        detector.preprocessor_.shape,
        several=several_in_a_chain(detector.vae_, detector.draws_),
    )
    return restored_score(own, state, available, draws=len(detector.draws_))


def _statistics(detector: BayesianVAE, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[np.float64]]:
    """The calibration values by statistic; a detector saved before they were kept has only its own."""
    kept = {n.removeprefix("statistics/"): a for n, a in arrays.items() if n.startswith("statistics/")}
    if any(values.ndim != 1 for values in kept.values()):
        raise ArtifactError("its calibration statistics are no lists of numbers: save it anew")
    return kept | {detector.statistic_: detector.calibration_scores_}


def _examples(detector: BayesianVAE, arrays: Mapping[str, NDArray[Any]]) -> Examples:
    """The training inputs that were kept, if any."""
    shape, size = detector.preprocessor_.shape, detector.vae_.latent_size
    inputs = arrays.get("examples/inputs", np.empty((0, *shape)))
    codes = arrays.get("examples/codes", np.empty((0, size), np.float32))
    if inputs.shape[1:] != shape or codes.shape != (len(inputs), size):
        raise ArtifactError("its examples are not of the inputs it takes: save it anew")
    return Examples(inputs, codes)


def _settings(detector: BayesianVAE) -> dict[str, Any]:
    """The constructor's arguments that mean something on another machine, as JSON values."""
    settings = detector.get_params(deep=False)
    model = (
        detector.observation if isinstance(detector.observation, str) else detector.observation.to_config()
    )
    # What a person has set since the fit waits for another one.
    settings |= {"random_state": detector.seed_, "observation": model}
    by_name = isinstance(detector.statistic, str) and is_built_in(detector.score_)
    settings["statistic"] = detector.statistic_ if by_name else None
    settings["posterior"] = posterior_to_config(detector.posterior)
    return {name: value for name, value in settings.items() if name not in _OF_THIS_MACHINE}
