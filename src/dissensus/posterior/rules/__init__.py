"""The rules, one file each: how weights move, and what is drawn of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dissensus.errors import SettingsError
from dissensus.homes import Homes
from dissensus.posterior.rules.adam import Adam
from dissensus.posterior.rules.contract import Drawn, Ending, Perturbation, Rule, Schedule, Vitals
from dissensus.posterior.rules.cyclical import CyclicalSGHMC
from dissensus.posterior.rules.sghmc import SGHMC
from dissensus.posterior.rules.sgld import SGLD
from dissensus.posterior.rules.swag import SWAG
from dissensus.posterior.rules.variational import Variational

__all__ = [
    "POSTERIORS",
    "SGHMC",
    "SGLD",
    "SWAG",
    "Adam",
    "CyclicalSGHMC",
    "Drawn",
    "Ending",
    "Perturbation",
    "Rule",
    "Schedule",
    "Variational",
    "Vitals",
    "rule_from_description",
]

_HOMES = {
    "sghmc": "sghmc:SGHMC",
    "cyclical-sghmc": "cyclical:CyclicalSGHMC",
    "sgld": "sgld:SGLD",
    "ensemble": "adam:Adam",
    "swag": "swag:SWAG",
    "variational": "variational:Variational",
}
POSTERIORS: Mapping[str, type[Rule]] = Homes("dissensus.posterior.rules", _HOMES)
"""Every posterior by name. A rule of your own needs no line here: it is passed as an object."""


def rule_from_description(described: Mapping[str, Any]) -> Rule:
    """The rule that :meth:`Rule.describe` described, if it is one of this package.

    >>> rule_from_description(SWAG(rank=5).describe()) == SWAG(rank=5)
    True
    """
    settings = dict(described)
    name = settings.pop("name", None)
    for rule in POSTERIORS.values():
        if rule.__name__ == name:
            return rule.from_settings(settings)
    raise SettingsError(f"the rule {name!r} is not one of this package: pass it as an object")
