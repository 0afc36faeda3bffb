"""What a fitted detector shows of itself, by scikit-learn's convention with names that end in ``_``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dissensus.decisions import FalseAlarmInterval, conformal_threshold, false_alarm_interval
from dissensus.detector.effort import Effort
from dissensus.explain import Examples
from dissensus.inputs import Preprocessor
from dissensus.models import GenerativeModel
from dissensus.posterior import WeightDraws
from dissensus.scores import Score

if TYPE_CHECKING:
    from dissensus.detector.confirming import Confirmed
    from dissensus.detector.learnt import Learnt, LeftOut
    from dissensus.detector.sampling import Sampler

__all__ = ["FittedAttributes"]


class FittedAttributes:
    """Names for the parts of ``learnt_``; there are none before a fit."""

    learnt_: Learnt
    """Everything that the fit has learnt. It is frozen: another fit or calibration makes another one."""
    false_alarm_rate: float
    effort: str

    @property
    def asked_(self) -> Learnt:
        """What was learnt, as it is asked with the present effort."""
        return self.learnt_.at(self.effort)

    @property
    def efforts_(self) -> tuple[Effort, ...]:
        """The efforts that it can be asked with, the cheapest first; one, where there is but one way."""
        return (*(level.effort for level in self.learnt_.levels.values()), self.learnt_.effort)

    @property
    def draws_(self) -> WeightDraws:
        """The posterior draws with the sampler's diagnostics."""
        return self.learnt_.draws

    @property
    def sampler_(self) -> Sampler:
        """How they were drawn: posterior, chains, draws and step size, as given or as recommended."""
        return self.learnt_.sampler

    @property
    def model_(self) -> GenerativeModel:
        """The architecture they belong to."""
        return self.learnt_.model

    @property
    def preprocessor_(self) -> Preprocessor:
        """What inputs are, and how they become what the model reads."""
        return self.learnt_.preprocessor

    @property
    def score_(self) -> Score:
        """The score of the present effort with what it has learnt."""
        return self.asked_.score

    @property
    def statistic_(self) -> str:
        """The name of the score that was calibrated; another one takes another fit."""
        return self.learnt_.score.name

    @property
    def calibration_scores_(self) -> NDArray[np.float64]:
        """Scores (n,) of the inliers that nothing else has seen; thresholds and p-values come from them."""
        return self.asked_.calibration_scores

    @property
    def calibration_statistics_(self) -> Mapping[str, NDArray[np.float64]]:
        """The same for every statistic that ``statistics`` gives, by name."""
        return self.asked_.calibration

    @property
    def examples_(self) -> Examples:
        """Training inputs with the model's features of them."""
        return self.learnt_.examples

    @property
    def noise_floor_(self) -> float:
        """How far the log-likelihoods of one draw move by the noise of their estimation alone, in nats."""
        return self.learnt_.noise_floor

    @property
    def one_a_call_(self) -> bool:
        """Whether inputs go through the model one by one, because their last bits would depend on others."""
        return self.learnt_.one_a_call

    @property
    def fitted_rows_(self) -> Mapping[str, int]:
        """How many inputs went into which part: train, validation and calibration."""
        return self.learnt_.rows

    @property
    def left_out_(self) -> LeftOut | None:
        """How many inputs were left out because of ``contamination``; None: all were taken for normal."""
        return self.learnt_.left_out

    @property
    def confirmed_(self) -> Confirmed | None:
        """What people have said of inputs since the fit, if they have (:meth:`Detector.confirm`)."""
        return self.learnt_.confirmed

    @property
    def seed_(self) -> int:
        """The root of all randomness in the fit."""
        return self.learnt_.seed

    # These follow from the calibration scores and false_alarm_rate, which a person may change after a fit.

    @property
    def threshold_(self) -> float:
        """What is flagged scores above it."""
        return conformal_threshold(self.calibration_scores_, self.false_alarm_rate)

    @property
    def offset_(self) -> float:
        """scikit-learn's name for it: ``decision_function`` is ``score_samples`` less this."""
        return -self.threshold_

    @property
    def false_alarm_interval_(self) -> FalseAlarmInterval:
        """Where the realised false-alarm rate lies with probability 0.9."""
        return false_alarm_interval(len(self.calibration_scores_), self.false_alarm_rate)
