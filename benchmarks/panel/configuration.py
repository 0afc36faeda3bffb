"""The one configuration for all datasets: posterior, observation model, budget and score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import SettingsError
from dissensus.models import VAE, build_vae
from dissensus.posterior import SamplingSettings, posterior_settings
from dissensus.schedule import default_batch_size, default_epochs
from dissensus.seeding import torch_stream

__all__ = ["POSTERIOR_RUNS", "RECOMMENDED", "Configuration", "find_posteriors", "with_posterior"]


@dataclass(frozen=True)
class Configuration:
    """Every choice that is left to a detector's maker; the architecture follows from the inputs' shape.

    The first settings are those of :func:`dissensus.posterior.posterior_settings`; ``None`` is as
    :mod:`dissensus.schedule` says. ``score`` is a name of :mod:`benchmarks.panel.scores`, fused scores
    among them.
    """

    posterior: str
    variant: int
    observation: str
    chains: int
    draws: int
    samples: int
    """K"""
    score: str
    epochs: int | None = None
    batch_size: int | None = None
    step_size: float = 1e-2
    noise: str = "shared"
    """Of the importance samples: ``shared`` by all draws, or ``fresh`` for each."""
    used_chains: int | None = None
    """Of the chains that were run; ``None``: all. What is left out was trained for nothing: for ablations."""
    used_draws: int | None = None
    """Of each chain's draws, evenly from the first to the last; ``None``: all."""

    def __post_init__(self) -> None:
        if self.noise not in ("shared", "fresh"):
            raise SettingsError(f"noise is shared or fresh, not {self.noise!r}")

    @property
    def settings(self) -> dict[str, Any]:
        """As plain values. The score is not among them: it is made from what a run leaves."""
        return {name: value for name, value in asdict(self).items() if name != "score"}

    @property
    def scoring(self) -> tuple[int, str]:
        """What one matrix of all draws depends on."""
        return self.samples, self.noise

    def sampling(self, training_size: int) -> SamplingSettings:
        """How the weights are drawn from so many training images."""
        batch_size = self.batch_size or default_batch_size(training_size)
        return posterior_settings(
            self.posterior,
            epochs=self.epochs or default_epochs(training_size, batch_size),
            draws=self.draws,
            chains=self.chains,
            variant=self.variant,
            batch_size=batch_size,
            step_size=self.step_size,
        )

    def vae(self, shape: tuple[int, ...]) -> VAE:
        """The architecture. Its weights do not matter: every chain draws its own."""
        generator = torch_stream(0, "panel", "architecture")
        return build_vae(shape, observation=self.observation, generator=generator)

    def used(self, chain: NDArray[np.int64]) -> NDArray[np.int64]:
        """Which draws are used, for the chain (M,) of each.

        >>> replace(RECOMMENDED, used_chains=1, used_draws=2).used(np.array([0, 0, 0, 1, 1, 1])).tolist()
        [0, 2]
        """
        chains = np.unique(chain)[: self.used_chains]
        rows = [np.flatnonzero(chain == each) for each in chains]
        return np.concatenate([_evenly(own, self.used_draws or len(own)) for own in rows])

    def quick(self) -> Configuration:
        """Short enough for two cores, and not a result."""
        chains = min(self.chains, 2)
        per_chain = min(self.draws // self.chains, 5)
        return replace(
            self,
            chains=chains,
            draws=chains * per_chain,
            epochs=20,
            batch_size=64,
            samples=min(self.samples, 4),
        )


# As BayesianVAE does by default; chosen without a look at any outlier but made-up ones (docs/panel.md).
RECOMMENDED = Configuration(
    posterior="sghmc",
    variant=1,
    observation="bernoulli",
    chains=2,
    draws=20,
    samples=16,
    score="fused",
)

POSTERIOR_RUNS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "sghmc": {"posterior": "sghmc", "variant": 1},
        "sghmc-variant-2": {"posterior": "sghmc", "variant": 2},
        "cyclical-sghmc": {"posterior": "cyclical-sghmc", "variant": 1},
        "sgld": {"posterior": "sgld", "variant": 1},
        "ensemble": {"posterior": "ensemble", "variant": 1},
        "swag": {"posterior": "swag", "variant": 1},
        "variational": {"posterior": "variational", "variant": 1},
    }
)
"""The panel's posteriors: what each changes in the recommended configuration, and nothing else."""


def with_posterior(configuration: Configuration, name: str) -> Configuration:
    """The configuration with another of the panel's posteriors."""
    return replace(configuration, **POSTERIOR_RUNS[name])


def find_posteriors(names: list[str]) -> list[str]:
    """The names, refused where the panel has no such posterior; all of them where none is named."""
    for name in names:
        if name not in POSTERIOR_RUNS:
            raise SettingsError(f"there is no posterior {name!r}; choose one of {', '.join(POSTERIOR_RUNS)}")
    return list(dict.fromkeys(names)) or list(POSTERIOR_RUNS)


def _evenly(values: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """``count`` of the values from the first to the last; the last alone for one."""
    if count > len(values):
        raise SettingsError(f"used_draws={count} asks for more than the {len(values)} draws of a chain")
    return values[np.linspace(len(values) - 1, 0, count).round().astype(np.int64)[::-1]]
