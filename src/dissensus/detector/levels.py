"""What a fit learns for each of its efforts, the score and the calibration, and how that is saved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dissensus.detector.effort import Effort, check_effort, effort_draws, effort_from_config, efforts_for
from dissensus.detector.learnt import Learnt, Level
from dissensus.detector.measuring import available_statistics, every_statistic
from dissensus.detector.statistic import (
    Statistic,
    restored_score,
    score_from_config,
    score_to_config,
    settled_score,
)
from dissensus.detector.teaching import teach
from dissensus.detector.trust import check_calibration, check_keys
from dissensus.errors import ArtifactError
from dissensus.likelihood import several_in_a_chain
from dissensus.posterior import WeightDraws
from dissensus.scores import SCORES, Available, made_up

__all__ = ["level_arrays", "levels_to_config", "make_level", "restored_levels"]


def make_level(
    learnt: Learnt,
    effort: Effort,
    statistic: Statistic,
    validation: Iterable[tuple[NDArray[Any], Tensor]],
    calibration: Iterable[tuple[NDArray[Any], Tensor]],
    *,
    inliers: int,
    device: torch.device,
) -> Level:
    """Return what asking with an effort takes.

    Validation inputs, of which there are so many ``inliers``, and calibration inputs come in batches, as read
    and as a model reads them.
    """
    draws = effort_draws(effort, learnt.draws)
    score = settled_score(statistic, _available(learnt, effort, draws), draws=len(draws), inliers=inliers)
    asked = replace(learnt, draws=draws, effort=effort, score=score, levels={})
    if score.learns:
        teach(score, asked, validation, device=device)
    parts = [every_statistic(asked, own, data=data, device=device) for own, data in calibration]
    calibrated = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return Level(effort, draws, score, calibrated)


def levels_to_config(levels: Mapping[str, Level], asked: str) -> dict[str, Any]:
    """Return the levels as JSON values, with the effort that is asked where nobody says otherwise."""
    described = {
        name: {"effort": level.effort.config(), "score": score_to_config(level.score)}
        for name, level in levels.items()
    }
    return {"effort": asked, "levels": described}


def level_arrays(levels: Mapping[str, Level]) -> dict[str, NDArray[Any]]:
    """Return what the levels have learnt in numbers, by name."""
    arrays: dict[str, NDArray[Any]] = {}
    for own, level in levels.items():
        arrays |= {f"{own}/score/{name}": array for name, array in level.score.state().items()}
        arrays |= {f"{own}/statistics/{name}": values for name, values in level.calibration.items()}
    return arrays


def restored_levels(
    config: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    learnt: Learnt,
    statistic: Statistic,
) -> dict[str, Level]:
    """The inverse of :func:`levels_to_config` and :func:`level_arrays`; ArtifactError if no fit left them."""
    check_effort(config["effort"])
    known = [effort.name for effort in efforts_for(learnt.model, statistic)]
    check_keys(config["levels"], known, "efforts")
    return {name: _restored(name, own, arrays, learnt) for name, own in config["levels"].items()}


def _restored(
    name: str, config: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], learnt: Learnt
) -> Level:
    check_keys(config, ("effort", "score"), f"effort {name}")
    effort = effort_from_config(name, config["effort"])
    draws = effort_draws(effort, learnt.draws)
    available = _available(learnt, effort, draws)
    check_keys(config["score"], ("score", "config"), f"score of the effort {name}")
    if config["score"]["score"] != learnt.score.name:
        raise ArtifactError(f"its effort {name} has another score than the rest of it: save the gate again")
    score = score_from_config(config["score"], None)
    score = restored_score(score, _below(f"{name}/score/", arrays), available, draws=len(draws))
    calibration = _below(f"{name}/statistics/", arrays)
    parts = score.parts(made_up(score, draws=len(draws), inputs=1))
    check_calibration(calibration, score.name, {score.name, *SCORES, *available.names, *parts})
    return Level(effort, draws, score, calibration)


def _available(learnt: Learnt, effort: Effort, draws: WeightDraws) -> Available:
    several = several_in_a_chain(learnt.model, draws)
    return available_statistics(learnt.model, learnt.preprocessor, several=several, effort=effort)


def _below(folder: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {name.removeprefix(folder): array for name, array in arrays.items() if name.startswith(folder)}
