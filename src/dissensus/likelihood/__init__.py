"""log p(x|θ_m) for every draw and input: the one stage that integrates out z."""

from dissensus.likelihood.matrix import LogLikelihoods, log_likelihoods, noise_floor
from dissensus.likelihood.regret import likelihood_regret
from dissensus.likelihood.statistics import STATISTICS, Statistic, input_statistics

__all__ = [
    "STATISTICS",
    "LogLikelihoods",
    "Statistic",
    "input_statistics",
    "likelihood_regret",
    "log_likelihoods",
    "noise_floor",
]
