"""The scores by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from dissensus.errors import SettingsError
from dissensus.scores._contract import Score
from dissensus.scores._entropy import entropy
from dissensus.scores._ess import ess_disagreement
from dissensus.scores._kl import kl_to_uniform
from dissensus.scores._likelihood import mean_log_likelihood, mixture_log_likelihood
from dissensus.scores._relative_std import RelativeStd
from dissensus.scores._robust_spread import interquartile_range, median_absolute_deviation
from dissensus.scores._spread import std_of_log_likelihood, waic
from dissensus.scores._typicality import Typicality
from dissensus.scores._whitened import Whitened

__all__ = ["SCORES", "ScoreEntry", "score"]


@dataclass(frozen=True)
class ScoreEntry:
    """What there is to know about a score before using it."""

    description: str
    make: Callable[[], Score]
    """Gives the score: a function as it is, a fitted score as a new unfitted object."""
    least_draws: int = 2
    cost: str = "M numbers an input are read or sorted: nothing beside the matrix"
    """What it takes once the matrix, of M·K decodings an input, is there."""


SCORES: Mapping[str, ScoreEntry] = MappingProxyType(
    {
        "ess": ScoreEntry("few draws keep weight: -log(1 - 1/ESS) (the paper)", lambda: ess_disagreement),
        "kl": ScoreEntry("divergence from equal weights to the draws' weights", lambda: kl_to_uniform),
        "entropy": ScoreEntry("the draws' weights are concentrated: -log H(w)", lambda: entropy),
        "std": ScoreEntry("standard deviation of log-likelihood over draws", lambda: std_of_log_likelihood),
        "mad": ScoreEntry(
            "median absolute deviation of log-likelihood over draws", lambda: median_absolute_deviation
        ),
        "iqr": ScoreEntry("interquartile range of log-likelihood over draws", lambda: interquartile_range),
        "whitened": ScoreEntry(
            "length of the disagreement, whitened by that of inliers (fitted)",
            Whitened,
            cost="held-out inliers to fit on, and M² multiplications an input",
        ),
        "relative-std": ScoreEntry(
            "std over that of inliers of the same likelihood (fitted)",
            RelativeStd,
            cost="held-out inliers to fit on, and nothing else beside the matrix",
        ),
        "mean-ll": ScoreEntry(
            "negated mean log-likelihood over draws", lambda: mean_log_likelihood, least_draws=1
        ),
        "mixture-ll": ScoreEntry(
            "negated log-likelihood of the draws' mixture", lambda: mixture_log_likelihood, least_draws=1
        ),
        "waic": ScoreEntry("negated mean plus variance of the log-likelihood over draws", lambda: waic),
        "typicality": ScoreEntry(
            "distance of the log-likelihood from the inliers' mean (fitted)",
            Typicality,
            least_draws=1,
            cost="held-out inliers to fit on, and nothing else beside the matrix",
        ),
    }
)


def score(name: str) -> Score:
    """The score of that name; one that must be fitted (``FittedScore``) comes new and unfitted.

    >>> score("std")([[-10.0, -10.0], [-10.0, -30.0]])
    array([ 0., 10.])
    """
    try:
        entry = SCORES[name]
    except (KeyError, TypeError):
        raise SettingsError(f"there is no score {name!r}; choose one of {', '.join(SCORES)}") from None
    return entry.make()
