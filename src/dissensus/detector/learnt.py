"""What a fit has learnt, as one object that nothing changes afterwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dissensus.defaults import THOROUGH
from dissensus.detector.confirming import Confirmed
from dissensus.detector.effort import WHOLE, Effort, check_effort
from dissensus.detector.sampling import Sampler
from dissensus.explain import Examples
from dissensus.inputs import Preprocessor
from dissensus.latent import LatentCodes
from dissensus.likelihood import Proposal
from dissensus.models import GenerativeModel
from dissensus.posterior import WeightDraws
from dissensus.scores import Score

__all__ = ["Drawn", "Learnt", "LeftOut", "Level"]


@dataclass(frozen=True)
class Drawn:
    """Draws of a model, and all that it takes to ask them about inputs."""

    preprocessor: Preprocessor
    model: GenerativeModel
    """The architecture that the draws are of; its own weights mean nothing."""
    draws: WeightDraws
    sampler: Sampler
    """How they were drawn."""
    seed: int
    samples: int
    """K."""
    proposal: Proposal
    one_a_call: bool
    """Whether inputs go through the model one by one, because their last bits would depend on their place."""
    effort: Effort = field(default=WHOLE, kw_only=True)
    """What they are asked."""


@dataclass(frozen=True)
class LeftOut:
    """How many of the inputs were the most unusual ones, and were not shown to the fit."""

    contamination: float
    """The share of outliers that was named; of rows half as many again are left out."""
    train: int
    validation: int


@dataclass(frozen=True)
class Level:
    """What is particular to one effort of a fit."""

    effort: Effort
    draws: WeightDraws
    """Those that are asked."""
    score: Score
    calibration: Mapping[str, NDArray[np.float64]]
    """As in :class:`Learnt`."""


@dataclass(frozen=True)
class Learnt(Drawn):
    """Everything a detector needs to score and to decide."""

    score: Score
    calibration: Mapping[str, NDArray[np.float64]]
    """Every statistic of the calibration inputs (n,), by name; the score's own among them."""
    examples: Examples
    rows: Mapping[str, int]
    """How many inputs went into which part of the fit: train, validation and calibration."""
    noise_floor: float
    """How far the log-likelihoods of one draw move by the noise of their estimation alone, in nats."""
    left_out: LeftOut | None = None
    """None: every input was taken for normal."""
    codes: LatentCodes | None = None
    """Where inputs lie in the latent space; None where there is no such space, or none to be asked."""
    confirmed: Confirmed | None = None
    """Inputs that people have looked at since; None: there are none."""
    levels: Mapping[str, Level] = field(default_factory=dict)
    """The other efforts by name; there are none where one is as good as another."""

    def at(self, effort: str) -> Learnt:
        """Return the same, to be asked with another effort; itself, if there is only one way to ask."""
        check_effort(effort)
        level = self.levels.get(effort)
        return self if level is None else replace(self, **vars(level), levels={})

    def with_calibration(
        self, change: Callable[[str, Mapping[str, NDArray[np.float64]]], Mapping[str, NDArray[np.float64]]]
    ) -> Learnt:
        """The same with what ``change`` makes of each effort's calibration, given its name."""
        levels = {
            name: replace(level, calibration=change(name, level.calibration))
            for name, level in self.levels.items()
        }
        return replace(self, calibration=change(THOROUGH, self.calibration), levels=levels)

    @property
    def calibration_scores(self) -> NDArray[np.float64]:
        """Scores (n,) of the inliers that nothing else has seen."""
        return self.calibration[self.score.name]
