"""log p(x|θ_m) for every draw and input, and what a model tells of inputs beside it."""

from dissensus.likelihood.matrix import LogLikelihoods, log_likelihoods, noise_floor
from dissensus.likelihood.regret import likelihood_regret
from dissensus.likelihood.statistics import input_statistics

__all__ = [
    "LogLikelihoods",
    "input_statistics",
    "likelihood_regret",
    "log_likelihoods",
    "noise_floor",
]
