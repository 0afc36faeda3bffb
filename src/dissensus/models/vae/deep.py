r"""A VAE of several stochastic layers, which tells what each of them explains.

Havtorn et al. (2021) compare how well an input is explained by all layers with how well by the topmost ones
alone: with z_{>k} from the encoder and the k lowest groups left to the prior,

.. math:: \mathrm{LLR}_k(x) = \big(\log p(x|z) - \mathrm{KL}\big)
          - \big(\log p(x|z_{>k}) - \mathrm{KL}_{>k}\big),

here at the means of q and, for what is left to the prior, at the prior's mean. What the lowest layers add is
texture, which unlike inputs have too; what is particular to the training data is in the layers above.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor

from dissensus.errors import SettingsError
from dissensus.models.contract import Inferred, Observed
from dissensus.models.inputs import unit_scale
from dissensus.models.observation import (
    ObservationModel,
    OwnObservations,
    default_observation,
    observation_from_config,
    observation_to_config,
)
from dissensus.models.observation import observation as find_observation
from dissensus.models.typical import normal_misfit
from dissensus.models.vae.convolutional import default_widths
from dissensus.models.vae.model import FURTHER, OBSERVED, VAE
from dissensus.models.vae.residual import LayeredDecoder, LayeredEncoder, group_shapes

__all__ = ["DeepVAE"]

LARGEST = 1 << 24  # of a layer's size: a saved gate that claims more is refused
MOST_LATENTS = 1 << 20
SMALL = 0.3  # of the weights that an untrained encoder's code is made by

LAYERED: Mapping[str, Observed] = MappingProxyType(
    {
        "lowest-gain": Observed("log p gained by the lowest stochastic layer, less its KL", "both", "lowest"),
        "lower-gain": Observed("log p gained by all but the top stochastic layer, less KL", "both", "lower"),
        "code-fit": Observed(
            "log distance of the code from a draw of the prior, Cramér–von Mises", "both", "misfit"
        ),
        "top-norm": Observed("log of the squared length of the top layer's code", "both", "top_norm"),
    }
)
"""What is told beside the statistics of any VAE, by name; two more decodings a draw."""


class DeepVAE(VAE):
    """p(x|z,θ) with residual networks and groups of latent numbers from coarse to fine, for pictures.

    Parameters
    ----------
    input_shape
        (C, H, W)
    latents
        How many numbers the top group has, and how many channels each of the finer ones.
    widths
        Channels after each halving, as in a plain VAE.
    observation, clip
        As in :class:`VAE`.
    """

    observed = MappingProxyType({**OBSERVED, **LAYERED})
    further = MappingProxyType({name: how for name, how in FURTHER.items() if name not in LAYERED})

    def __init__(
        self,
        input_shape: Sequence[int],
        *,
        latents: Sequence[int] = (32, 4, 2),
        widths: Sequence[int] | None = None,
        observation: str | ObservationModel = "auto",
        clip: float | None = None,
    ) -> None:
        shape = tuple(int(side) for side in input_shape)
        if len(shape) != 3:
            raise SettingsError(f"a deep VAE is one of pictures (C, H, W), and the inputs have shape {shape}")
        wide = tuple(int(width) for width in widths or _default_widths(shape))
        groups = tuple(int(count) for count in latents)[: len(wide)]
        if not groups or not all(1 <= size <= LARGEST for size in (*shape, *groups, *wide)):
            raise SettingsError(f"latents={list(latents)} and widths={list(wide)} must be positive sizes")
        own = default_observation(shape) if observation == "auto" else find_observation(observation)
        self._sizes = [math.prod(group) for group in group_shapes(shape, groups, len(wide))]
        if sum(self._sizes) > MOST_LATENTS:
            raise SettingsError(
                f"latents={list(latents)} are {sum(self._sizes)} numbers: give fewer channels"
            )
        super().__init__(
            LayeredEncoder(shape, groups, wide),
            LayeredDecoder(shape, groups, wide, own.parameters_per_dimension * shape[0]),
            own,
            shape,
            sum(self._sizes),
            clip=clip,
        )
        self.latents, self.widths = groups, wide

    def observe(self, x: Tensor, inferred: Inferred) -> dict[str, Tensor]:
        """What a VAE tells, and what is lost where the lower groups are left to the prior."""
        told, (mean, log_std) = super().observe(x, inferred), inferred
        kl = (0.5 * (log_std.exp().square() + mean.square() - 1) - log_std).double()
        fit, top = told["terms"].flatten(1).sum(1), self._sizes[0]
        length = mean[:, :top].double().square().sum(1)
        return told | {
            "lowest": fit - self._without(x, mean, kl, self.latent_size - self._sizes[-1]),
            "lower": fit - self._without(x, mean, kl, top),
            "misfit": normal_misfit(mean),
            "top_norm": length.clamp(min=torch.finfo(torch.float64).tiny).log(),
        }

    def _without(self, x: Tensor, mean: Tensor, kl: Tensor, kept: int) -> Tensor:
        """log p(x|·) (N,) with the first numbers of the code alone, plus the KL of those left out."""
        code = torch.cat([mean[:, :kept], torch.zeros_like(mean[:, kept:])], dim=1)
        return self.log_prob(unit_scale(x), code) + kl[:, kept:].sum(1)

    @classmethod
    def for_inputs(cls, shape: tuple[int, ...], *, clip: float | None, generator: torch.Generator) -> DeepVAE:
        """A deep VAE of pictures of this shape."""
        with torch.random.fork_rng(devices=[]):  # layers are born with weights from the global generator
            model = cls(shape, clip=clip)
        model.initialise_(generator)
        return model

    def initialise_(self, generator: torch.Generator) -> None:
        """Draws both networks' weights anew; codes are small at first."""
        super().initialise_(generator)
        assert isinstance(self.encoder, LayeredEncoder)
        with torch.no_grad():
            for head in (self.encoder.top, *self.encoder.finer):
                assert isinstance(head.weight, Tensor)
                head.weight.mul_(SMALL)

    def facts(self) -> dict[str, Any]:
        """The observation model, and the groups of latent numbers."""
        return super().facts() | {"latents": list(self.latents)}

    def config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {
            "input_shape": list(self.input_shape),
            "latents": list(self.latents),
            "widths": list(self.widths),
            "observation": observation_to_config(self.observation),
            "clip": self.clip,
        }

    @classmethod
    def from_config(cls, config: Mapping[str, Any], *, observation: OwnObservations = None) -> DeepVAE:
        """The inverse of :meth:`config`; an observation model of a person's own must be passed."""
        own = observation_from_config(config["observation"], observation)
        return cls(**{**config, "observation": own})


def _default_widths(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A plain VAE's, at most 64."""
    return tuple(min(width, 64) for width in default_widths(shape))
