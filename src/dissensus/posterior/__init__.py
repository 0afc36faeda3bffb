"""Draw the weights of a model, and tell whether the draws can be trusted.

A rule says how one step moves the weights (a file each), engines run the steps, and diagnostics judge the
chains.
"""

from dissensus.posterior.agreement import as_one_run
from dissensus.posterior.blocks import BlockData
from dissensus.posterior.budget import Budget
from dissensus.posterior.checkpoint import claimed_checkpoint, fingerprint
from dissensus.posterior.convergence import effective_sizes, rhat
from dissensus.posterior.devices import sample_on_devices
from dissensus.posterior.diagnostics import Diagnostics, EpochReport, SamplerHealth
from dissensus.posterior.draws import PartDraws, Watched, WeightDraws, join_draws, load_draw, load_weights
from dissensus.posterior.driver import sample_posterior, sample_together
from dissensus.posterior.named import posterior_settings
from dissensus.posterior.potential import Potential
from dissensus.posterior.priors import GammaHyperprior
from dissensus.posterior.rules import POSTERIORS, SGHMC, SGLD, SWAG, Adam, CyclicalSGHMC, Rule, Variational
from dissensus.posterior.run import HELD_OUT_ROWS, OnEpoch, PosteriorRun
from dissensus.posterior.settings import SamplingSettings
from dissensus.posterior.verdict import Verdict

__all__ = [
    "HELD_OUT_ROWS",
    "POSTERIORS",
    "SGHMC",
    "SGLD",
    "SWAG",
    "Adam",
    "BlockData",
    "Budget",
    "CyclicalSGHMC",
    "Diagnostics",
    "EpochReport",
    "GammaHyperprior",
    "OnEpoch",
    "PartDraws",
    "PosteriorRun",
    "Potential",
    "Rule",
    "SamplerHealth",
    "SamplingSettings",
    "Variational",
    "Verdict",
    "Watched",
    "WeightDraws",
    "as_one_run",
    "claimed_checkpoint",
    "effective_sizes",
    "fingerprint",
    "join_draws",
    "load_draw",
    "load_weights",
    "posterior_settings",
    "rhat",
    "sample_on_devices",
    "sample_posterior",
    "sample_together",
]
