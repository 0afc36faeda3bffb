"""Which inputs has a model never seen the like of? Learnt from unlabelled data alone.

The public names are imported when they are first used, so that ``import dissensus`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dissensus._version import __version__

if TYPE_CHECKING:
    from dissensus.detector import BayesianFlow, BayesianVAE, Detector
    from dissensus.errors import DissensusError
    from dissensus.inputs import ImageFolder, load_dataset, load_sample
    from dissensus.likelihood import LogLikelihoods, log_likelihoods
    from dissensus.models import VAE, build_vae
    from dissensus.posterior import SGHMC, Adam, SamplingSettings, WeightDraws, sample_posterior

__all__ = [
    "SGHMC",
    "VAE",
    "Adam",
    "BayesianFlow",
    "BayesianVAE",
    "Detector",
    "DissensusError",
    "ImageFolder",
    "LogLikelihoods",
    "SamplingSettings",
    "WeightDraws",
    "__version__",
    "build_vae",
    "load_dataset",
    "load_sample",
    "log_likelihoods",
    "sample_posterior",
]

_HOME = {
    "inputs": ("ImageFolder", "load_dataset", "load_sample"),
    "detector": ("BayesianFlow", "BayesianVAE", "Detector"),
    "errors": ("DissensusError",),
    "likelihood": ("LogLikelihoods", "log_likelihoods"),
    "models": ("VAE", "build_vae"),
    "posterior": ("SGHMC", "Adam", "SamplingSettings", "WeightDraws", "sample_posterior"),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOME.items():
        if name in names:
            return getattr(import_module(f"dissensus.{module}"), name)
    raise AttributeError(f"module 'dissensus' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
