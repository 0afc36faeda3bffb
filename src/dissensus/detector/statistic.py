"""The statistics a detector may have, by name: every score of the log-likelihoods, and the fused one."""

from __future__ import annotations

from collections.abc import Sequence

from dissensus.detector.fused import FEW, fused_score
from dissensus.errors import SettingsError
from dissensus.scores import SCORES, SUM, Fused, Score, score

__all__ = ["FUSED", "check_statistic", "describe_statistic", "make_score"]

FUSED = "fused"


def check_statistic(name: str, draws: int) -> None:
    """Refuses a name that there is not, and fewer draws than it takes."""
    if not isinstance(name, str) or name not in (FUSED, *SCORES):
        raise SettingsError(f"there is no score {name!r}; choose one of {', '.join((*SCORES, FUSED))}")
    least = fused_score((1,), inliers=FEW).least_draws if name == FUSED else SCORES[name].least_draws
    if draws < least:
        raise SettingsError(f"the statistic {name!r} needs at least two draws, got draws={draws}")


def make_score(name: str, shape: Sequence[int], *, inliers: int) -> Score | Fused:
    """The score of that name for inputs (H, W, C) or (D,); one that must be fitted comes new and unfitted.

    ``inliers`` is how many there are to fit it on: of few, less can be learnt.
    """
    return fused_score(shape, inliers=inliers) if name == FUSED else score(name)


def describe_statistic(name: str, own: Score | Fused) -> str:
    """What it measures, in words without a full stop."""
    if not isinstance(own, Fused):
        return SCORES[name].description
    leading = " and ".join(own.fusion.leading)
    if own.fusion.depth == SUM:
        others = [name for name in own.statistics if name not in own.fusion.leading]
        return (
            "how few inliers lie as far out, -log p in nats, by the sum of how unusual each is by itself: "
            f"high values of {leading}"
            + (f", and the most unusual, high or low, of {', '.join(others)}" if others else "")
        )
    return (
        "how few inliers lie as far out, -log p in nats, by the density of all of "
        f"{', '.join(own.statistics)}" + (f", high values of {leading} counting more" if leading else "")
    )
