"""What a fit is made of, chosen by names that a person typed: of the package, or of classes of her own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from dissensus.errors import SettingsError, brief
from dissensus.own_code import is_own_name
from dissensus.scores import score

if TYPE_CHECKING:
    from dissensus.detector import Detector
    from dissensus.models import ObservationModel
    from dissensus.scores import Score

__all__ = ["chosen_detector", "chosen_embedder", "chosen_score", "chosen_steps"]

T = TypeVar("T")
VAE = "vae"


def chosen_detector(
    context: typer.Context, model: str | None, of_a_vae: Mapping[str, Any], **settings: Any
) -> Detector:
    """The unfitted gate: of what suits the inputs, of a VAE with settings of its own, or of another model."""
    from dissensus.detector import BayesianFlow, BayesianVAE, Detector
    from dissensus.detector.bayesian_flow import is_flow
    from dissensus.detector.own_names import import_own
    from dissensus.models import AUTO, check_model

    if model is None:
        model = VAE if any(_given(context, name) for name in of_a_vae) else AUTO
    if model == VAE:
        observation = _observation(of_a_vae["observation"])
        return BayesianVAE(**{**of_a_vae, "observation": observation}, **settings)
    chosen = import_own(models=[model])["model"][0] if is_own_name(model) else model
    check_model(chosen)
    for name in of_a_vae:
        if _given(context, name):
            raise SettingsError(
                f"{_option(name)} is for VAEs, and the model is {model}: leave one of both out"
            )
    if isinstance(chosen, str) and is_flow(chosen):
        return BayesianFlow(
            kind=chosen,
            **{name: value for name, value in settings.items() if name not in ("samples", "effort")},
        )
    return Detector(model=chosen, **settings)


def chosen_steps(
    context: typer.Context, posterior: str, step_size: float | None, adaptation: int | None
) -> dict[str, Any]:
    """The settings of a sampler's steps; refused where they are given for what is no sampler."""
    from dissensus.posterior import POSTERIORS

    steps = {"step_size": step_size, "adaptation": adaptation}
    if posterior in POSTERIORS and not POSTERIORS[posterior].noisy:
        for name in filter(partial(_given, context), steps):
            samplers = ", ".join(name for name, rule in POSTERIORS.items() if rule.noisy)
            raise SettingsError(
                f"{_option(name)} is for samplers ({samplers}), and {posterior} is not one of them: leave it "
                "out"
            )
    return steps


def chosen_score(name: str) -> str | Score:
    """The name of a score of the package, or an object of a person's own class."""
    if not is_own_name(name):
        score(name)  # refused here, if there is none, before the data is read
        return name
    from dissensus.detector.own_names import import_own

    [own] = import_own(scores=[name])["statistic"]
    return _made(own, f"--score {name}")


def chosen_embedder(name: str | None) -> Any:
    """What ``embed=`` takes: a file, the name of an embedder of the package, or what a person named."""
    from dissensus.detector.own_names import import_embedder
    from dissensus.inputs import check_embedder

    found = None if name is None else import_embedder(name)
    if isinstance(found, type):
        found = _made(found, f"--embed {name}")
    check_embedder(found)  # refused here, if it is none, before the data is read
    return found


def _observation(name: str) -> str | ObservationModel:
    """The name of an observation model of the package, or an object of a person's own class."""
    from dissensus.detector.own_names import import_own
    from dissensus.models import check_observation

    if not is_own_name(name):
        check_observation(name)  # refused here, if there is none, before the data is read
        return name
    [own] = import_own(observations=[name])["observation"]
    made = _made(own, f"--observation {name}")
    check_observation(made)
    return made


def _given(context: typer.Context, name: str) -> bool:
    """Whether a person gave the argument of that name."""
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def _option(name: str) -> str:
    """How an argument is typed."""
    return f"--{name.replace('_', '-')}"


def _made(own: type[T], option: str) -> T:
    try:
        return own()
    except Exception as error:  # whatever its constructor raises
        raise SettingsError(
            f"{option} cannot be made without arguments ({brief(error)}): give them defaults, or fit from "
            "Python"
        ) from error
