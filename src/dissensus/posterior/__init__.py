"""How weight draws are made: the potential, the priors, one file a sampler, the chain driver, diagnostics."""

from dissensus.posterior.adam import Adam
from dissensus.posterior.diagnostics import Diagnostics, EpochReport, SamplerHealth, split_rhat
from dissensus.posterior.draws import WeightDraws, load_weights
from dissensus.posterior.driver import sample_posterior
from dissensus.posterior.potential import Potential
from dissensus.posterior.priors import GammaHyperprior
from dissensus.posterior.settings import SamplingSettings
from dissensus.posterior.sghmc import SGHMC

__all__ = [
    "SGHMC",
    "Adam",
    "Diagnostics",
    "EpochReport",
    "GammaHyperprior",
    "Potential",
    "SamplerHealth",
    "SamplingSettings",
    "WeightDraws",
    "load_weights",
    "sample_posterior",
    "split_rhat",
]
