"""What is timed: images, a network in our words and in plain ones, and draws of its weights."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import torch
from torch import Tensor

from benchmarks.speed.straightforward import PlainVAE, convolutional_vae, dense_vae
from dissensus.errors import DataError
from dissensus.inputs import load_dataset, load_sample
from dissensus.models import VAE, ObservationModel, build_vae, initialise
from dissensus.models import preset as model_preset
from dissensus.posterior import PartDraws, SamplingSettings, WeightDraws, load_draw, sample_posterior
from dissensus.seeding import torch_stream

__all__ = [
    "DENSE_LATENT",
    "DENSE_WIDTHS",
    "conv_vae",
    "copied_draws",
    "default_vae",
    "dense",
    "images",
    "images_name",
    "plain_conv",
    "plain_default",
    "plain_dense",
    "random_draws",
    "trained_draws",
    "with_weights",
]

DENSE_WIDTHS, DENSE_LATENT = (256, 128), 32
"""Of the fully connected network that PyOD can be given as well."""


@cache
def _source() -> tuple[str, Tensor]:
    try:
        name, found = "fashion-mnist", load_dataset("fashion-mnist", "train", download=False).images
    except DataError:
        name, found = "fashion-mnist-sample", load_sample()[0].images
    return name, torch.from_numpy(np.ascontiguousarray(found))[:, None]


def images(count: int) -> Tensor:
    """The first ``count`` images of Fashion-MNIST, uint8 (N, 1, 28, 28).

    Where only the sample that comes with the package is there, its images are used several times.
    """
    _, every = _source()
    return every.repeat(-(-count // len(every)), 1, 1, 1)[:count] if count > len(every) else every[:count]


def images_name() -> str:
    """Which images these are, for the records."""
    return _source()[0]


def conv_vae(observation: str | ObservationModel = "bernoulli") -> VAE:
    """The paper's VAE for Fashion-MNIST: 50 latents, channels 32 and 64, a dense layer of 256."""
    own = model_preset("paper-fashion-mnist")
    return build_vae(
        own.input_shape,
        latent_size=own.latent_size,
        observation=observation,
        widths=own.widths,
        hidden=own.hidden,
        generator=torch_stream(0, "speed", "architecture"),
    )


def default_vae() -> VAE:
    """What a detector with the defaults trains on such images: 20 latents, channels 32 and 64."""
    return build_vae((1, 28, 28), generator=torch_stream(0, "speed", "architecture"))


def dense() -> VAE:
    """A fully connected VAE for 784 numbers."""
    return build_vae(
        (784,),
        latent_size=DENSE_LATENT,
        observation="bernoulli",
        widths=DENSE_WIDTHS,
        generator=torch_stream(0, "speed", "architecture"),
    )


def plain_conv() -> PlainVAE:
    """The same layers as :func:`conv_vae`, without the package."""
    return convolutional_vae()


def plain_default() -> PlainVAE:
    """The same layers as :func:`default_vae`, without the package."""
    return convolutional_vae(latent_size=20, hidden=None)


def plain_dense() -> PlainVAE:
    """The same layers as :func:`dense`, without the package."""
    return dense_vae(784, DENSE_LATENT, DENSE_WIDTHS)


def random_draws(vae: VAE, draws: int) -> WeightDraws:
    """M draws from the initialisation, which cost as much to score as any, with one encoder."""
    decoders = []
    for number in range(draws):
        initialise(vae.decoder, torch_stream(0, "speed", "draw", number))
        decoders.append({name: p.detach().clone() for name, p in vae.decoder.named_parameters()})
    return _stacked(decoders, {name: p.detach()[None].clone() for name, p in vae.encoder.named_parameters()})


def trained_draws(observation: str, draws: int, device: torch.device) -> WeightDraws:
    """M draws of :func:`conv_vae` after a short training; where there are not as many, some serve again."""
    few = _trained(observation, device)
    return few.select(np.arange(draws) % len(few))


@cache
def _trained(observation: str, device: torch.device) -> WeightDraws:
    settings = SamplingSettings.variant_1(epochs=9, burn_in=6, batch_size=128)
    return sample_posterior(conv_vae(observation), images(6144).to(device), settings, seed=0)


def _stacked(decoders: Sequence[dict[str, Tensor]], encoder: dict[str, Tensor]) -> WeightDraws:
    count = np.arange(len(decoders))
    stacks = {name: torch.stack([one[name] for one in decoders]) for name in decoders[0]}
    parts = {"decoder": PartDraws(stacks, count), "encoder": PartDraws(encoder, np.zeros_like(count))}
    return WeightDraws(parts, np.zeros_like(count), count + 1)


def copied_draws(draws: WeightDraws) -> list[dict[str, Tensor]]:
    """The same weights for :func:`straightforward.score`, whose layers' names lack a prefix."""
    copied = []
    for number in range(len(draws)):
        parts = {part: draws.weights(part, number) for part in ("encoder", "decoder")}
        copied.append(
            {
                f"{part}.{name.removeprefix('layers.')}": weight
                for part, own in parts.items()
                for name, weight in own.items()
            }
        )
    return copied


def with_weights(vae: VAE, draws: WeightDraws, draw: int) -> VAE:
    """The VAE with the weights of one draw."""
    load_draw(vae, draws, draw)
    return vae
