"""A fitted detector as an artefact, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import nn

from dissensus._version import __version__
from dissensus.artifact import Artifact
from dissensus.data.standardiser import Standardiser
from dissensus.detector.settings import check_settings
from dissensus.errors import ArtifactError
from dissensus.models import VAE, architecture_config, observation_from_config, vae_from_config
from dissensus.posterior import WeightDraws
from dissensus.posterior.draws import Stack
from dissensus.scores import FittedScore, score

if TYPE_CHECKING:
    from dissensus.detector.estimator import BayesianVAE

__all__ = ["restore", "to_artifact"]

_OF_THIS_MACHINE = ("device", "encoder", "decoder")


def to_artifact(detector: BayesianVAE) -> Artifact:
    """Everything a fitted detector needs to score and to decide elsewhere."""
    calibration = {"scores": detector.calibration_scores_}
    if isinstance(detector.score_, FittedScore):
        calibration |= {f"score/{name}": array for name, array in detector.score_.state().items()}
    if detector.standardiser_ is not None:
        calibration |= {"mean": detector.standardiser_.mean, "scale": detector.standardiser_.scale}
    config = {
        "version": __version__,
        "settings": _settings(detector),
        "model": architecture_config(detector.vae_),
        "feature_names": getattr(detector, "feature_names_in_", np.array([])).tolist(),
        "seed": detector.seed_,
        "noise_floor": detector.noise_floor_,
    }
    return Artifact(config, detector.draws_, calibration)


def restore(
    kind: type[BayesianVAE],
    artifact: Artifact,
    *,
    device: str,
    encoder: nn.Module | None,
    decoder: nn.Module | None,
) -> BayesianVAE:
    """The inverse of :func:`to_artifact`, up to the threshold; raises anything at all on what is none."""
    config, arrays = artifact.config, artifact.calibration
    settings = dict(config["settings"])
    for pair in ("widths", "resize"):
        settings[pair] = None if settings[pair] is None else tuple(settings[pair])
    if isinstance(settings["observation"], dict):
        settings["observation"] = observation_from_config(settings["observation"])
    detector = kind(**settings, device=device, encoder=encoder, decoder=decoder)
    check_settings(detector)
    detector.vae_ = vae_from_config(config["model"], encoder=encoder, decoder=decoder)
    detector.draws_ = artifact.draws
    _check_draws(detector.vae_, detector.draws_)
    channels, *sides = detector.vae_.input_shape  # of rows: their length, and no sides
    detector.input_shape_ = (*sides, channels)
    detector.n_features_in_ = math.prod(detector.input_shape_)
    if config["feature_names"]:
        detector.feature_names_in_ = np.array(config["feature_names"], dtype=object)
    detector.seed_, detector.noise_floor_ = config["seed"], config["noise_floor"]
    detector.standardiser_ = Standardiser(arrays["mean"], arrays["scale"]) if "mean" in arrays else None
    detector.score_ = score(detector.statistic)
    if isinstance(detector.score_, FittedScore):
        state = {n.removeprefix("score/"): a for n, a in arrays.items() if n.startswith("score/")}
        detector.score_.restore(state)
    detector.calibration_scores_ = arrays["scores"]
    if detector.calibration_scores_.ndim != 1:
        raise ArtifactError("its calibration scores are no list of numbers: save it anew")
    return detector


def _settings(detector: BayesianVAE) -> dict[str, Any]:
    """The constructor's arguments that mean something on another machine, as JSON values."""
    settings = detector.get_params(deep=False)
    model = (
        detector.observation if isinstance(detector.observation, str) else detector.observation.to_config()
    )
    settings |= {"random_state": detector.seed_, "observation": model}
    return {name: value for name, value in settings.items() if name not in _OF_THIS_MACHINE}


def _check_draws(vae: VAE, draws: WeightDraws) -> None:
    """Refuses draws that do not fill the networks exactly: what they left would score as chance made it."""
    encoders = int(draws.encoder_of.max()) + 1
    for network, stacks, count in (
        ("encoder", draws.encoder, encoders),
        ("decoder", draws.decoder, len(draws)),
    ):
        module: nn.Module = getattr(vae, network)
        expected = {name: (count, *weight.shape) for name, weight in module.named_parameters()}
        if _shapes(stacks) != expected:
            raise ArtifactError(f"the draws are not of this {network}: pass the networks it was fitted with")


def _shapes(stacks: Mapping[str, Stack]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(stack[:].shape) for name, stack in stacks.items()}
