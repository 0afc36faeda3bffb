"""Which posterior a detector draws from: one of the package by name, a rule, or settings of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from dissensus.errors import SettingsError
from dissensus.posterior import POSTERIORS, Rule, SamplingSettings, posterior_settings
from dissensus.posterior.rules import rule_from_description
from dissensus.schedule import default_batch_size, default_epochs

if TYPE_CHECKING:
    from dissensus.detector.estimator import Detector

__all__ = [
    "OwnPosterior",
    "Posterior",
    "check_posterior",
    "posterior_from_config",
    "posterior_in_words",
    "posterior_to_config",
    "sampling_settings",
]

MANY_EPOCHS = 10_000  # as many as a schedule may want, where the inputs have not been counted yet


@dataclass(frozen=True)
class OwnPosterior:
    """What a saved detector knows of a rule that is not of this package: how it was described."""

    described: str


Posterior: TypeAlias = str | Rule | SamplingSettings | OwnPosterior


def check_posterior(detector: Detector) -> None:
    """Refuses a posterior that cannot work, as far as that is known before the inputs are counted."""
    rule = isinstance(detector.posterior, Rule)
    if not rule or detector.epochs is not None:
        _settings(detector, int(detector.epochs or MANY_EPOCHS), batch_size=1)


def sampling_settings(detector: Detector, training_size: int) -> SamplingSettings:
    """How a detector's weights are drawn from so many training inputs."""
    batch_size = int(detector.batch_size or default_batch_size(training_size))
    return _settings(detector, int(detector.epochs or default_epochs(training_size, batch_size)), batch_size)


def _settings(detector: Detector, epochs: int, batch_size: int) -> SamplingSettings:
    posterior, draws, chains = detector.posterior, int(detector.draws), int(detector.chains)
    if isinstance(posterior, OwnPosterior):
        raise SettingsError(
            f"this detector was fitted with {posterior.described}, which is not saved with it: set "
            "posterior= to it, or to another one, before another fit"
        )
    if not isinstance(posterior, str | Rule | SamplingSettings):
        raise SettingsError(
            f"posterior={posterior!r} is none: give one of {', '.join(POSTERIORS)}, a rule such as "
            "SWAG(rank=5), or SamplingSettings"
        )
    if isinstance(posterior, SamplingSettings):
        settings = posterior
        if settings.chains != chains:
            raise SettingsError(
                f"posterior= has settings for {settings.chains} chains and chains={chains}: "
                f"set chains={settings.chains}"
            )
    else:
        settings = posterior_settings(
            posterior,
            epochs=epochs,
            draws=draws,
            chains=chains,
            variant=detector.variant,
            batch_size=batch_size,
            step_size=detector.step_size,
            adaptation=None if detector.adaptation is None else int(detector.adaptation),
        )
    if settings.draws != draws:
        each = settings.draws // chains
        others = f", or chains={draws // each}" if draws % each == 0 else ""
        raise SettingsError(
            f"posterior={posterior_in_words(posterior)} gives {each} draw{'s'[: each != 1]} a chain, "
            f"{settings.draws} in all, not draws={draws}: set draws={settings.draws}{others}"
        )
    return settings


def posterior_in_words(posterior: Posterior) -> str:
    """The name, or what a rule or settings are written as."""
    return posterior.described if isinstance(posterior, OwnPosterior) else str(posterior)


def posterior_to_config(posterior: Posterior) -> Any:
    """As a JSON value."""
    if isinstance(posterior, Rule):
        return {"rule": posterior.describe(), "in_words": str(posterior)}
    if isinstance(posterior, SamplingSettings):
        return {"settings": posterior.describe(), "in_words": str(posterior)}
    return posterior if isinstance(posterior, str) else {"in_words": posterior.described}


def posterior_from_config(config: Any) -> Posterior:
    """The inverse of :func:`posterior_to_config`; of rules that are not of this package, their words."""
    if isinstance(config, str):
        if config not in POSTERIORS:
            raise SettingsError(f"posterior={config!r} is not known: is it from a newer version?")
        return config
    if not isinstance(config, Mapping) or not isinstance(config.get("in_words"), str):
        raise SettingsError("the posterior is neither a name nor a description")
    names = {rule.__name__ for rule in POSTERIORS.values()}
    if "rule" in config and config["rule"].get("name") in names:
        return rule_from_description(config["rule"])
    if "settings" in config and config["settings"]["rule"].get("name") in names:
        return SamplingSettings.from_description(config["settings"])
    return OwnPosterior(config["in_words"])
