"""One chain: a VAE whose encoder and decoder move by their rules, one epoch at a time."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from dissensus.models import VAE
from dissensus.models.inputs import unit_scale
from dissensus.posterior.draws import load_weights
from dissensus.posterior.part import Part
from dissensus.posterior.potential import Potential
from dissensus.posterior.settings import SamplingSettings
from dissensus.seeding import numpy_stream, stream_seed, torch_stream

__all__ = ["Chain", "StepNoise"]

_DECODED_AT_ONCE = 1 << 24  # numbers a decoder gives at once where chains are watched: 64 MiB


class StepNoise(NamedTuple):
    """Standard normal numbers for one step, in the order they are drawn in."""

    latent: Tensor
    """(B, Z)"""
    encoder: Tensor | None
    """(P,), where the encoder is sampled"""
    decoder: Tensor | None
    """(P,), where the decoder is"""


class Chain:
    """Chain number ``index`` of a run.

    All its randomness in epoch t comes from streams named by (seed, chain, t): where an epoch starts from the
    same state it ends in the same state, which is what makes an interrupted run resume to the same bits.
    """

    def __init__(self, vae: VAE, settings: SamplingSettings, data: Tensor, index: int, seed: int) -> None:
        self.index, self.seed, self.settings, self.data = index, seed, settings, data
        self.batch_size = min(settings.batch_size, len(data))
        self.steps_per_epoch = len(data) // self.batch_size
        self.vae = copy.deepcopy(vae).to(data.device)
        self.vae.initialise_(torch_stream(seed, "chain", index, "initialisation"))
        # What is frozen is no part of a draw: it must stay what the draws will be scored with.
        load_weights(self.vae, {name: p for name, p in vae.named_parameters() if not p.requires_grad})
        potential = Potential(len(data), self.batch_size, settings.temperature)
        self.decoder = Part(self.vae.decoder, settings.decoder, potential)
        self.encoder = Part(self.vae.encoder, settings.encoder, potential)
        self.generator = torch.Generator(device=data.device)
        self.adapt = True

    @property
    def parts(self) -> dict[str, Part]:
        """The two networks by name."""
        return {"decoder": self.decoder, "encoder": self.encoder}

    def begin_epoch(self, epoch: int) -> Tensor:
        """Sets streams, prior and adaptation of epoch t; returns its batches (steps, B) of row numbers."""
        self.adapt = self.settings.adapts(epoch)
        for name, part in self.parts.items():
            random = numpy_stream(self.seed, "chain", self.index, "precision", name, epoch)
            part.resample_precision(self.settings.hyperprior, random)
            part.begin_epoch(epoch, self.steps_per_epoch)
        self.generator.manual_seed(stream_seed(self.seed, "chain", self.index, "epoch", epoch))
        order = torch.randperm(
            len(self.data),
            generator=torch_stream(self.seed, "chain", self.index, "order", epoch, device=self.data.device),
            device=self.data.device,
        )
        # A partial last batch is left out: the order is new in every epoch, so nothing is left out for long.
        return order[: self.steps_per_epoch * self.batch_size].view(self.steps_per_epoch, self.batch_size)

    def step(self, rows: Tensor) -> Tensor:
        """One step on the batch ``data[rows]``; returns its mean ELBO () without waiting for the device."""
        noise = self.draw_noise(len(rows))
        elbo = self.backward(rows, noise.latent)
        # Both gradients were taken at the same point: θ's uses the most recent φ, as in the paper.
        self.encoder.step_(noise.encoder, self.adapt)
        self.decoder.step_(noise.decoder, self.adapt)
        return elbo.mean()

    def draw_noise(self, rows: int) -> StepNoise:
        """All that is random in a step on so many rows, apart from which they are."""
        latent = torch.empty(rows, self.vae.latent_size, device=self.data.device)
        latent.normal_(generator=self.generator)
        for part in (self.encoder, self.decoder):
            part.begin_step_(self.generator, rows)
        return StepNoise(latent, *(part.draw_noise(self.generator) for part in (self.encoder, self.decoder)))

    def backward(self, rows: Tensor, noise: Tensor, vae: VAE | None = None) -> Tensor:
        """The ELBO (B,) of ``data[rows]``; leaves the gradient in the chain's own networks, or in a copy."""
        elbo = (vae or self.vae).objective(self.data.index_select(0, rows), noise)
        elbo.sum().neg().backward()  # type: ignore[no-untyped-call]
        return elbo.detach()

    def noiseless_elbo(self) -> float:
        """The median ELBO of the first rows at z = mean: how good the weights are, whatever the noise.

        An untrained encoder's σ can be huge, and the training ELBO then jumps by orders of magnitude. One
        absurd row would outweigh all others in a mean, and a chain that runs away loses them all.
        """
        with torch.no_grad():
            x = unit_scale(self.data[: self.batch_size])
            return float(self.vae.elbo(x, x.new_zeros(len(x), self.vae.latent_size)).median())

    def held_out_log_likelihood(self, x: Tensor, noise: Tensor) -> Tensor:
        """log p̂(x) of held-out inputs (N,) in float64 with the given noise (K, Z), to watch the chain by."""
        with torch.no_grad():
            # So many inputs at a time that what a decoder gives for all their samples is 64 MiB.
            numbers = len(noise) * self.vae.observation.parameters_per_dimension
            at_once = max(1, _DECODED_AT_ONCE // (numbers * math.prod(self.vae.input_shape)))
            parts = [
                self.vae.log_likelihood(some, noise, self.vae.infer(some))[0]
                for some in x.split(at_once)  # type: ignore[no-untyped-call]
            ]
            return torch.cat(parts)

    def load(self, weights: Mapping[str, Tensor]) -> None:
        """Puts flat weights (P,) into the networks of these names."""
        for name, flat in weights.items():
            self.parts[name].weights.copy_(flat)

    def tensors(self) -> dict[str, Tensor]:
        """Everything the next epoch depends on, by name."""
        return {f"{part}/{k}": v for part, p in self.parts.items() for k, v in p.tensors().items()}

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """The inverse of :meth:`tensors`."""
        for name, part in self.parts.items():
            part.restore(
                {k.removeprefix(f"{name}/"): v for k, v in tensors.items() if k.startswith(f"{name}/")}
            )
