"""Which score a detector decides by: one of the package by name, or an object."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from dissensus.errors import ArtifactError, SettingsError
from dissensus.own_code import is_own_name, name_of, pick
from dissensus.scores import (
    MATRIX,
    SCORES,
    Available,
    Score,
    check_own,
    is_built_in,
    made_up,
    rehearse,
    score,
    scored,
)

__all__ = [
    "OwnScores",
    "Statistic",
    "check_available",
    "check_statistic",
    "restored_score",
    "score_from_config",
    "score_to_config",
    "settled_score",
]

Statistic: TypeAlias = str | Score
OwnScores: TypeAlias = Score | type[Score] | Sequence[Score | type[Score]] | None
"""What is passed when a detector is loaded: a score of one's own, or several of which it takes its own."""

OPTION = "--score"


def check_statistic(statistic: object, draws: int | None) -> None:
    """Refuse what is no score, what could not be saved, and fewer draws than the score takes, if known."""
    own = _made(statistic)
    check_own(own)
    if draws is not None and draws < own.least_draws:
        least = "two" if own.least_draws == 2 else str(own.least_draws)
        raise SettingsError(f"the statistic {own.name!r} needs at least {least} draws, got draws={draws}")


def settled_score(statistic: object, available: Available, *, draws: int, inliers: int) -> Score:
    """Return a new, unfitted score for inputs of which these statistics can be measured.

    One of a person's own is tried on made-up numbers: what cannot work is refused before any training.
    """
    own = _made(statistic).settled(available, inliers=inliers)
    check_own(own)
    check_available(own, available)
    if own.name in available.names:
        raise SettingsError(f"the score {own.name!r} has the name of a statistic: call it otherwise")
    if not is_built_in(own):
        rehearse(own, draws=max(draws, own.least_draws), inliers=inliers)
    return own


def check_available(own: Score, available: Available) -> None:
    """Refuse a score that requires what cannot be measured."""
    missing = [name for name in own.requires if name not in (MATRIX, *available.names)]
    if missing:
        raise SettingsError(
            f"the score {own.name!r} requires {str(missing[0])[:99]!r}, which is no statistic of such inputs "
            f"here: there are {', '.join((MATRIX, *available.names))}"
        )


def score_to_config(own: Score) -> dict[str, Any]:
    """Return a score as JSON values: its name, or ``package:Class`` of one's own, and its arguments."""
    return {"score": own.name if is_built_in(own) else name_of(type(own)), "config": own.config()}


def score_from_config(config: Mapping[str, Any], passed: OwnScores) -> Score:
    """Return the unfitted score that a file describes; a class of one's own must be among those passed."""
    name = config["score"]
    if is_own_name(name):
        given = () if passed is None else passed if isinstance(passed, Sequence) else (passed,)
        kind = pick(name, given, what="score", argument="statistic", option=OPTION)
    elif name in SCORES:
        kind = SCORES[name]
    else:
        raise ArtifactError(f"there is no score {str(name)[:99]!r} here: upgrade dissensus")
    return kind.from_config(config["config"])


def restored_score(own: Score, state: Mapping[str, Any], available: Available, *, draws: int) -> Score:
    """Return the score with what it has learnt, shown to work for so many draws."""
    check_available(own, available)
    own.restore(state)
    unknown = set(state) ^ set(own.state())
    if unknown:
        raise ArtifactError(
            f"what its score has learnt lacks or has an array {str(min(unknown))[:99]!r}: save the gate again"
        )
    scored(own, made_up(own, draws=draws, inputs=1))
    return own


def _made(statistic: object) -> Score:
    """Return a new score: of that name, or a copy, for a person's own object must stay as it is."""
    if isinstance(statistic, Score):
        return copy.deepcopy(statistic)
    if is_own_name(statistic):
        raise SettingsError(f"statistic={statistic!r} is the name of a class: import it and pass an object")
    if isinstance(statistic, type) and issubclass(statistic, Score):
        raise SettingsError(
            f"statistic={statistic.__name__} is a class: pass an object, {statistic.__name__}()"
        )
    if not isinstance(statistic, str):
        raise SettingsError(
            f"statistic={statistic!r} is no score: choose one of {', '.join(SCORES)}, or pass an object that "
            "inherits from dissensus.scores.Score"
        )
    return score(statistic)
