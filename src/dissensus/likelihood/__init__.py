"""Compute log p(x|θ_m) of every input under every draw, and the other statistics that a model gives."""

from dissensus.likelihood.devices import log_likelihoods_on
from dissensus.likelihood.matrix import (
    LogLikelihoods,
    Proposal,
    check_proposal,
    log_likelihoods,
    noise_floor,
)
from dissensus.likelihood.own_bits import keeps_bits
from dissensus.likelihood.statistics import (
    input_statistics,
    one_look,
    several_in_a_chain,
    statistic_names,
)

__all__ = [
    "LogLikelihoods",
    "Proposal",
    "check_proposal",
    "input_statistics",
    "keeps_bits",
    "log_likelihoods",
    "log_likelihoods_on",
    "noise_floor",
    "one_look",
    "several_in_a_chain",
    "statistic_names",
]
