"""The variational autoencoder: an encoder, a decoder and an observation model, checked to fit together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from dissensus.errors import SettingsError
from dissensus.models.observation import ObservationModel

__all__ = ["LOG_STD_RANGE", "VAE"]

LOG_STD_RANGE = (-10.0, 5.0)
"""The encoder's log σ is clamped to this range, so that an input unlike all others cannot overflow exp."""


class VAE(nn.Module):
    r"""p(x|z,θ) p(z) with p(z) = N(0, I), and q(z|x,φ) = N(mean, diag σ²).

    Bring your own networks, or have them made by :func:`dissensus.models.build_vae`:

    - ``encoder``: (B, *S) → the pair (mean, log σ), each (B, Z), or both side by side as one (B, 2Z);
    - ``decoder``: (B, Z) → B·Q·∏S numbers in any shape, read as (B, Q, *S), Q parameters for each dimension.

    Both are run once on zeros here, so that a wrong shape is an error now and not in the middle of a chain.
    Batch normalisation and dropout are refused: with them an input's score depends on its neighbours in the
    batch or on chance.

    With ``clip``, the encoder sees inputs within ±clip only. Far outside all it was trained on a network's
    answer is chance; the likelihood is always that of the input itself.
    """

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        observation: ObservationModel,
        input_shape: Sequence[int],
        latent_size: int,
        *,
        clip: float | None = None,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.observation = observation
        self.input_shape = tuple(int(side) for side in input_shape)
        self.latent_size = int(latent_size)
        self.clip = clip
        if not self.input_shape or min(self.input_shape) < 1:
            raise SettingsError(f"input_shape={self.input_shape}: give one or more positive sizes.")
        if self.latent_size < 1:
            raise SettingsError(f"latent_size={latent_size}: give at least 1.")
        if clip is not None and not clip > 0:
            raise SettingsError(f"clip={clip}: give a number above 0, or None for no clipping.")
        _refuse_batch_dependence(encoder, "encoder")
        _refuse_batch_dependence(decoder, "decoder")
        self._dry_run()

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and log σ of q(z|x): (B, *S) → two of (B, Z), log σ clamped to :data:`LOG_STD_RANGE`."""
        output = self.encoder(x if self.clip is None else x.clamp(-self.clip, self.clip))
        mean, log_std = output.chunk(2, dim=1) if isinstance(output, Tensor) else output
        return mean, log_std.clamp(*LOG_STD_RANGE)

    def decode(self, z: Tensor) -> Tensor:
        """The observation model's parameters: (B, Z) → (B, Q, *S)."""
        output: Tensor = self.decoder(z)
        return output.reshape(z.shape[0], self.observation.parameters_per_dimension, *self.input_shape)

    def elbo(self, x: Tensor, noise: Tensor) -> Tensor:
        r"""The evidence lower bound with one z = mean + σ·noise: x (B, *S), noise (B, Z) → (B,) float64.

        .. math:: \log p(x|z) - \mathrm{KL}(q(z|x) \,\|\, \mathcal N(0, I)), \quad
                  \mathrm{KL} = \tfrac12 \sum_i (\sigma_i^2 + \mu_i^2 - 1 - 2 \log\sigma_i)
        """
        mean, log_std = self.encode(x)
        std = log_std.exp()
        kl_terms = 0.5 * (std.square() + mean.square() - 1) - log_std
        log_p = self.observation.log_prob(x, self.decode(mean + std * noise))
        return log_p - kl_terms.sum(1, dtype=torch.float64)

    def log_weight(self, x: Tensor, z: Tensor, mean: Tensor, log_std: Tensor) -> Tensor:
        """log p(x|z) + log p(z) − log q(z|x): x (B, *S), the others (B, Z) → (B,) float64.

        The mean over z ~ q of its exponential is p(x). ``mean`` and ``log_std`` are q's, from :meth:`encode`,
        so that many z for one x cost one encoding.
        """
        # All in float64: far from the data both terms are large, and what counts is their difference.
        z64, mean64, log_std64 = z.double(), mean.double(), log_std.double()
        standardised = (z64 - mean64) * torch.exp(-log_std64)
        log_prior_over_q = (0.5 * (standardised.square() - z64.square()) + log_std64).sum(1)
        return self.observation.log_prob(x, self.decode(z)) + log_prior_over_q

    def forward(self, x: Tensor, noise: Tensor) -> Tensor:
        """The same as :meth:`elbo`."""
        return self.elbo(x, noise)

    @torch.no_grad()
    def _dry_run(self) -> None:
        """Run zeros through both networks, two rows and then three, and check what comes out."""
        two, three = (self._outputs_on_zeros(rows) for rows in (2, 3))
        for output, longer in zip(two, three, strict=True):
            if not torch.allclose(output, longer[:2], rtol=1e-3, atol=1e-4):
                raise SettingsError(
                    "encoder or decoder: the same row gave different outputs in a batch of two and of three; "
                    "remove what is random or mixes rows, or an input has no score of its own."
                )

    def _outputs_on_zeros(self, rows: int) -> list[Tensor]:
        """The encoder's one or two outputs and the decoder's, refused if their shapes cannot be used."""
        like = next(self.parameters(), torch.empty(0))
        Z, Q = self.latent_size, self.observation.parameters_per_dimension
        x = torch.zeros(rows, *self.input_shape, dtype=like.dtype, device=like.device)
        code = _run("encoder", self.encoder, x)
        parts = list(code) if isinstance(code, tuple | list) else [code]
        shapes = [_shape(part) for part in parts]
        if shapes not in ([(rows, 2 * Z)], [(rows, Z), (rows, Z)]):
            raise SettingsError(
                f"encoder: for inputs {tuple(x.shape)} and latent_size={Z} expected (mean, log_std) of shape "
                f"{(rows, Z)} each, or one tensor {(rows, 2 * Z)}; got {' and '.join(map(str, shapes))}."
            )
        z = torch.zeros(rows, Z, dtype=like.dtype, device=like.device)
        output = _run("decoder", self.decoder, z)
        per_row = Q * math.prod(self.input_shape)
        if not isinstance(output, Tensor) or output.shape[:1] != (rows,) or output[0].numel() != per_row:
            raise SettingsError(
                f"decoder: for latents {tuple(z.shape)} expected {(rows, Q, *self.input_shape)} or any shape "
                f"with {per_row} numbers a row ({Q} for each input dimension, as observation "
                f"{self.observation.name!r} needs); got {_shape(output)}."
            )
        return [*parts, output]


def _shape(output: object) -> tuple[int, ...] | str:
    return tuple(output.shape) if isinstance(output, Tensor) else type(output).__name__


def _run(role: str, module: nn.Module, argument: Tensor) -> Any:
    try:
        return module(argument)
    except (RuntimeError, ValueError, IndexError) as error:
        shape = tuple(argument.shape)
        raise SettingsError(f"{role}: cannot take a tensor of shape {shape}: {error}") from error


def _refuse_batch_dependence(module: nn.Module, role: str) -> None:
    for name, layer in module.named_modules():
        where = f"{role}: {type(layer).__name__} at {name or 'the top'!r}"
        if isinstance(layer, nn.modules.batchnorm._BatchNorm):
            raise SettingsError(
                f"{where} cannot be used, because its running statistics belong to no single weight draw; "
                "use GroupNorm or no normalisation."
            )
        if isinstance(layer, nn.modules.dropout._DropoutNd):
            raise SettingsError(
                f"{where} cannot be used, because the same input must always give the same score; remove it, "
                "the posterior over weights already regularises."
            )
