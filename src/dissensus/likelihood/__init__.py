"""log p(x|θ_m) for every draw and input: the one stage that integrates out z."""

from dissensus.likelihood.matrix import LogLikelihoods, log_likelihoods, noise_floor

__all__ = ["LogLikelihoods", "log_likelihoods", "noise_floor"]
