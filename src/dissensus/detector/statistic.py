"""The statistics a detector may have, by name: every score of the log-likelihoods, and the fused one."""

from __future__ import annotations

from collections.abc import Sequence

from dissensus.detector.fused import fused_score
from dissensus.errors import SettingsError
from dissensus.scores import SCORES, Fused, Score, score

__all__ = ["FUSED", "check_statistic", "describe_statistic", "make_score"]

FUSED = "fused"


def check_statistic(name: str, draws: int) -> None:
    """Refuses a name that there is not, and fewer draws than it takes."""
    if not isinstance(name, str) or name not in (FUSED, *SCORES):
        raise SettingsError(f"there is no score {name!r}; choose one of {', '.join((*SCORES, FUSED))}")
    least = fused_score((1,)).least_draws if name == FUSED else SCORES[name].least_draws
    if draws < least:
        raise SettingsError(f"the statistic {name!r} needs at least two draws, got draws={draws}")


def make_score(name: str, shape: Sequence[int]) -> Score | Fused:
    """The score of that name for inputs (H, W, C) or (D,); one that must be fitted comes new and unfitted."""
    return fused_score(shape) if name == FUSED else score(name)


def describe_statistic(name: str, own: Score | Fused) -> str:
    """What it measures, in words without a full stop."""
    if not isinstance(own, Fused):
        return SCORES[name].description
    leading = " and ".join(own.fusion.leading)
    return (
        "how few inliers lie as far out, -log p in nats, by the density of all of "
        f"{', '.join(own.statistics)}" + (f", high values of {leading} counting more" if leading else "")
    )
