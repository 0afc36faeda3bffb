"""Which posterior a detector draws from: one of the package by name, a rule, or settings of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from dissensus.errors import SettingsError
from dissensus.posterior import POSTERIORS, Rule, SamplingSettings
from dissensus.posterior.rules import rule_from_description

__all__ = [
    "OwnPosterior",
    "Posterior",
    "posterior_from_config",
    "posterior_in_words",
    "posterior_to_config",
]


@dataclass(frozen=True)
class OwnPosterior:
    """What a saved detector knows of a rule that is not of this package: how it was described."""

    described: str


Posterior: TypeAlias = str | Rule | SamplingSettings | OwnPosterior


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
