"""The paper's models by name, with every choice it leaves open written down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import torch

from dissensus.errors import SettingsError
from dissensus.models.observation import Bernoulli, ObservationModel
from dissensus.models.vae.build import build_vae
from dissensus.models.vae.model import VAE

__all__ = ["PAPER_TRAINING", "PRESETS", "Preset", "preset"]

PAPER_TRAINING: Mapping[str, float] = MappingProxyType(
    {
        "adam_learning_rate": 1e-3,
        "sghmc_step_size": 1e-3,
        "sghmc_momentum_decay": 0.05,
        "gamma_shape": 1.0,
        "gamma_rate": 1.0,
        "burn_in_epochs": 1,
        "epochs_between_draws": 1,
        "adaptation_steps": 3_000,
    }
)
"""What the paper states about training (section 5.1, "BVAE details"), the same for all its experiments.

Its B is when draws begin. For how long the sampler's scales adapt is a setting of their own of the code it
names, pybnn, whose default is 3,000 steps.
"""


@dataclass(frozen=True)
class Preset:
    """A named architecture and the settings it is trained with.

    What the paper says (section 5.1): Adam 1e-3, scale-adapted SGHMC with step 1e-3 and momentum decay 0.05,
    Gamma(1, 1) hyperpriors resampled each epoch, B = 1 and D = 1 epoch (:data:`PAPER_TRAINING`), and "the
    same convolutional VAE architecture as in previous works", without its sizes. What it leaves open, and our
    choice:

    - *Latent size*: 50 for grey 28×28 and 40 for colour 32×32. The paper only says that latent spaces it has
      in mind have fewer than 100 dimensions; of those compared (results/paper/selection.md), these give
      validation images the highest likelihood, or one within 0.3 nats of it.
    - *Observation model*: Bernoulli on [0, 1] pixels, the cheapest; a 256-way softmax has a head 256 times as
      wide, which is most of a step's cost.
    - *Widths*: channels 32, 64 (and 128) over halvings by 4×4 convolutions, mirrored in the decoder: small
      enough to sample, and trainable without batch normalisation, whose running statistics would belong to no
      single draw. A dense layer of 256 for grey images and none for colour, by the validation likelihood of
      chains that were run until they sample.
    - *Activation*: ReLU. *Initialisation*: He, see :func:`dissensus.models.initialise`.
    - *Batch size*: 256, which is 235 steps an epoch on 60,000 images and enough to keep a GPU busy.
    - *Epochs*: 20, so that B = D = 1 gives M = 20 draws. With the paper's step size a chain is then still far
      from converged (docs/reproduction.md).
    """

    name: str
    input_shape: tuple[int, ...]
    latent_size: int
    widths: tuple[int, ...]
    hidden: int = 256
    observation: ObservationModel = field(default_factory=Bernoulli)
    batch_size: int = 256
    epochs: int = 20
    training: Mapping[str, float] = field(default_factory=lambda: PAPER_TRAINING)

    def build(self, generator: torch.Generator) -> VAE:
        """The preset's VAE, its weights drawn from ``generator``.

        >>> preset("paper-svhn").build(torch.Generator().manual_seed(0)).latent_size
        40
        """
        return build_vae(
            self.input_shape,
            latent_size=self.latent_size,
            observation=self.observation,
            widths=self.widths,
            hidden=self.hidden,
            generator=generator,
        )


PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        each.name: each
        for each in (
            Preset("paper-fashion-mnist", input_shape=(1, 28, 28), latent_size=50, widths=(32, 64)),
            Preset("paper-svhn", input_shape=(3, 32, 32), latent_size=40, widths=(32, 64, 128), hidden=0),
        )
    }
)
"""Every preset, by name."""


def preset(name: str) -> Preset:
    """The preset of that name."""
    if name not in PRESETS:
        raise SettingsError(f"preset={name!r} is not known: choose one of {', '.join(PRESETS)}.")
    return PRESETS[name]
