"""The two ways the method is run: with the paper's settings, and until it samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, TypeAlias

from dissensus.errors import SettingsError
from dissensus.models import VAE, build_vae
from dissensus.models import preset as model_preset
from dissensus.posterior import SGHMC, Adam, GammaHyperprior, SamplingSettings
from dissensus.seeding import torch_stream

__all__ = ["CHOSEN", "PRESETS", "RUNS", "BenchPreset", "RunName", "find_preset", "measured_everywhere"]

RunName: TypeAlias = Literal["bvae1", "bvae2", "vaes", "background"]
RUNS: tuple[RunName, ...] = ("bvae1", "bvae2", "vaes", "background")
"""What can be trained: both variants, the plain VAEs, and one plain VAE on perturbed images."""

CHOSEN = "chosen-on-clusters"
"""The preset for the held-out classes alone (:mod:`benchmarks.paper.cluster_selection`), once it is chosen:
``python -m benchmarks paper --clusters --table`` writes it down."""


@dataclass(frozen=True)
class BenchPreset:
    """Every number a run depends on, apart from its inputs and its seed.

    ``epochs``, ``burn_in``, ``thinning``, ``chains``, ``adaptation`` and ``adaptation_steps`` are those of
    :class:`dissensus.posterior.SamplingSettings` and hold for the two variants of the Bayesian VAE;
    ``members`` plain VAEs are trained for ``member_epochs`` each. An architecture's ``None`` is as in the
    benchmark's own.
    """

    name: str
    step_size: float
    epochs: int
    burn_in: int
    chains: int
    thinning: int = 1
    adaptation: int | None = None
    adaptation_steps: int | None = None
    momentum_decay: float = 0.05
    noise_correction: float = 1.0
    temperature: float = 1.0
    gamma_shape: float = 1.0
    gamma_rate: float = 1.0
    precision_per_part: bool = False
    """Whether all weights of the decoder, and all of the encoder, share one precision of their prior."""
    learning_rate: float = 1e-3
    members: int = 5
    member_epochs: int = 20
    batch_size: int = 256
    samples: int = 32
    """K of the two variants' matrices."""
    member_samples: int = 32
    """K of the plain VAEs', whose likelihoods are compared between inputs and not between models."""
    observation: str | None = None
    latent_size: int | None = None
    widths: tuple[int, ...] | None = None
    hidden: int | None = None

    def sampling(self, run: RunName) -> SamplingSettings:
        """How the weights of a run are made."""
        adam = Adam(learning_rate=self.learning_rate)
        if run in ("vaes", "background"):
            return SamplingSettings.ensemble(
                self.members if run == "vaes" else 1,
                self.member_epochs,
                adam,
                batch_size=self.batch_size,
                hyperprior=GammaHyperprior(self.gamma_shape, self.gamma_rate),
            )
        sghmc = SGHMC(self.step_size, self.momentum_decay, self.noise_correction)
        both = SamplingSettings.variant_2(
            sghmc,
            epochs=self.epochs,
            burn_in=self.burn_in,
            thinning=self.thinning,
            chains=self.chains,
            adaptation=self.adaptation,
            adaptation_steps=self.adaptation_steps,
            batch_size=self.batch_size,
            temperature=self.temperature,
            hyperprior=GammaHyperprior(self.gamma_shape, self.gamma_rate, self.precision_per_part),
        )
        return both if run == "bvae2" else both.with_(inference=adam)

    def importance_samples(self, run: RunName) -> int:
        """K of a run's matrices."""
        return self.samples if run in ("bvae1", "bvae2") else self.member_samples

    def vae(self, model: str) -> VAE:
        """The architecture. Its weights do not matter: every chain draws its own."""
        own = model_preset(model)
        return build_vae(
            own.input_shape,
            latent_size=self.latent_size or own.latent_size,
            observation=self.observation or own.observation,
            widths=self.widths or own.widths,
            hidden=own.hidden if self.hidden is None else self.hidden,
            generator=torch_stream(0, "paper", "architecture"),
        )

    def quick(self) -> BenchPreset:
        """Short enough for two cores: fewer epochs, chains and samples; small batches, so that it learns."""
        epochs = max(4, self.epochs // 8)
        return replace(
            self,
            epochs=epochs,
            burn_in=min(self.burn_in, epochs - 1),
            chains=min(self.chains, 2),
            member_epochs=max(2, self.member_epochs // 10),
            batch_size=64,
            samples=8,
            member_samples=8,
        )


PRESETS: Mapping[str, BenchPreset] = MappingProxyType(
    {
        each.name: each
        for each in (
            # Section 5.1, "BVAE details": one precision λ_θ and one λ_φ, B = D = 1, and for all else the
            # defaults of pybnn's sampler, whose scales adapt for 3,000 steps whatever B is (14 epochs here).
            # T, and so M = (T − B)/D + 1 = T, is said nowhere. ESS lies between 1 and M, so the axis of the
            # paper's histograms of it would tell, but they are not in its source; M = 5 is its sketch alone.
            # The nearest published runs of the sampler on VAEs hold about 200 draws (Glazunov and Zarras
            # 2022), and 14 epochs are gone before scales settle: 100 has 86 draws from after that.
            BenchPreset(
                "as-published",
                step_size=1e-3,
                epochs=100,
                burn_in=1,
                chains=1,
                adaptation_steps=3_000,
                precision_per_part=True,
            ),
            # Several chains, and only what they do once settled; scales adapt in the burn-in alone. Their
            # temperatures are right, and they have not merged: each samples the networks about it.
            BenchPreset("settled", step_size=1e-2, epochs=40, burn_in=31, chains=4),
            # For held-out classes, chosen on clusters of training images (results/paper/selection-clusters)
            # before any test image was read with it.
            BenchPreset(
                CHOSEN, step_size=1e-2, epochs=55, burn_in=31, chains=4, adaptation=31, latent_size=10
            ),
        )
    }
)
"""All presets by name."""


def measured_everywhere() -> list[str]:
    """The presets that all benchmarks are measured with unless told otherwise."""
    return [name for name in PRESETS if name != CHOSEN]


def find_preset(name: str, *, quick: bool = False) -> BenchPreset:
    """The preset of that name.

    >>> find_preset("settled").sampling("bvae1").draws
    40
    """
    if name not in PRESETS:
        raise SettingsError(f"there is no preset {name!r}; choose one of {', '.join(PRESETS)}")
    return PRESETS[name].quick() if quick else PRESETS[name]
