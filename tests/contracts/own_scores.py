"""Scores as a person would write them, outside the package."""

from __future__ import annotations

import numpy as np

from dissensus.errors import DataError
from dissensus.scores import Score


class Range(Score):
    """How far the draws' log-likelihoods lie apart, the smallest score there can be."""

    name = "range"
    description = "how far the best draw is from the worst"

    def __call__(self, measured):
        return np.ptp(measured.matrix, axis=0)


class Distance(Score):
    """How many deviations a statistic is above its mean among inliers: it learns, and has an argument."""

    name = "distance"
    description = "how many deviations a statistic is above its mean"

    def __init__(self, statistic: str = "latent-norm", power: float = 1.0):
        self.statistic, self.power = statistic, power

    @property
    def requires(self):
        return (self.statistic,)

    def fit(self, measured):
        values = measured.statistic(self.statistic)
        self.line_ = np.array([values.mean(), values.std()])
        return self

    def __call__(self, measured):
        self.check_fitted("line_")
        mean, deviation = self.line_
        far = (measured.statistic(self.statistic) - mean) / deviation
        return np.sign(far) * np.abs(far) ** self.power

    def state(self):
        self.check_fitted("line_")
        return {"line": self.line_}

    def restore(self, state):
        if set(state) != {"line"}:
            raise DataError("not the state of a distance; fit again")
        self.line_ = state["line"]
        return self
