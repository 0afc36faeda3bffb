"""The scores by name: a line each, that says where its class is. Listing them imports no NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dissensus.errors import SettingsError
from dissensus.homes import Homes

if TYPE_CHECKING:
    from dissensus.scores._contract import Score

__all__ = ["SCORES", "is_built_in", "score"]

_HOMES = {
    "ess": "_ess:Ess",
    "kl": "_kl:Kl",
    "entropy": "_entropy:Entropy",
    "std": "_spread:Std",
    "mad": "_robust_spread:Mad",
    "iqr": "_robust_spread:Iqr",
    "whitened": "_whitened:Whitened",
    "relative-std": "_relative_std:RelativeStd",
    "mean-ll": "_likelihood:MeanLogLikelihood",
    "mixture-ll": "_likelihood:MixtureLogLikelihood",
    "waic": "_spread:Waic",
    "typicality": "_typicality:Typicality",
    "fused": "_fused:Fused",
}


SCORES: Mapping[str, type[Score]] = Homes("dissensus.scores", _HOMES)
"""Every score of the package, by name: its class, which can be made without arguments."""


def score(name: str) -> Score:
    """Return a new score of that name; one that learns comes unfitted.

    >>> score("std")([[-10.0, -10.0], [-10.0, -30.0]])
    array([ 0., 10.])
    """
    try:
        own = SCORES[name]
    except (KeyError, TypeError):
        raise SettingsError(f"there is no score {name!r}; choose one of {', '.join(SCORES)}") from None
    return own()


def is_built_in(own: Score) -> bool:
    """Whether a score's class is of the package, so that a file need only name it."""
    return own.name in SCORES and SCORES[own.name] is type(own)
