"""How weight draws are made: the potential, the priors, one file a sampler, the chain driver, diagnostics."""

from dissensus.posterior.adam import Adam
from dissensus.posterior.checkpoint import claimed_checkpoint
from dissensus.posterior.cyclical import CyclicalSGHMC
from dissensus.posterior.diagnostics import Diagnostics, EpochReport, SamplerHealth, split_rhat
from dissensus.posterior.draws import PartDraws, WeightDraws, join_draws, load_draw, load_weights
from dissensus.posterior.driver import sample_posterior, sample_together
from dissensus.posterior.named import POSTERIORS, Budget, posterior_settings
from dissensus.posterior.potential import Potential
from dissensus.posterior.priors import GammaHyperprior
from dissensus.posterior.run import OnEpoch, PosteriorRun
from dissensus.posterior.settings import SamplingSettings
from dissensus.posterior.sghmc import SGHMC
from dissensus.posterior.sgld import SGLD
from dissensus.posterior.swag import SWAG
from dissensus.posterior.variational import Variational

__all__ = [
    "POSTERIORS",
    "SGHMC",
    "SGLD",
    "SWAG",
    "Adam",
    "Budget",
    "CyclicalSGHMC",
    "Diagnostics",
    "EpochReport",
    "GammaHyperprior",
    "OnEpoch",
    "PartDraws",
    "PosteriorRun",
    "Potential",
    "SamplerHealth",
    "SamplingSettings",
    "Variational",
    "WeightDraws",
    "claimed_checkpoint",
    "join_draws",
    "load_draw",
    "load_weights",
    "posterior_settings",
    "sample_posterior",
    "sample_together",
    "split_rhat",
]
