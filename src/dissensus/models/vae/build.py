"""VAEs from a shape or from a saved description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import nn

from dissensus.errors import SettingsError
from dissensus.models.initialisation import initialise
from dissensus.models.observation import (
    ObservationModel,
    OwnObservations,
    default_observation,
    observation_from_config,
    observation_to_config,
)
from dissensus.models.observation import observation as find_observation
from dissensus.models.vae.convolutional import ConvolutionalDecoder, ConvolutionalEncoder, default_widths
from dissensus.models.vae.mlp import MLPDecoder, MLPEncoder
from dissensus.models.vae.model import VAE

__all__ = ["architecture_config", "build_vae", "vae_from_config"]

LARGEST_SIZE = 1 << 40  # of a layer; torch counts weights in 63 bits


def build_vae(
    input_shape: Sequence[int],
    *,
    latent_size: int | None = None,
    observation: str | ObservationModel = "bernoulli",
    widths: Sequence[int] | None = None,
    hidden: int | None = None,
    clip: float | None = None,
    generator: torch.Generator,
) -> VAE:
    """A VAE for inputs of this shape: convolutional for (C, H, W), fully connected for (D,).

    What is left out is chosen by size. Images: 20 latents if grey and 40 if coloured (within 0.3 nats of the
    best of 10 to 50, and of 20 to 100, by the likelihood of Fashion-MNIST's and SVHN's validation images),
    channels 32, 64, … and no dense layer (one of 256 costs eight times the weights, gains 2 nats an image on
    Fashion-MNIST and loses 2 on SVHN).
    Vectors: half as many latents as dimensions (at most 32), two hidden layers of 64 (D ≤ 64) or 256.
    The observation model ``"auto"`` is :func:`default_observation`'s. ``widths`` are channels or hidden
    sizes; ``hidden`` is the size of a dense layer beside the convolutions, 0 or ``None`` for none; ``clip``
    is that of :class:`VAE`. Weights are drawn from ``generator`` by :func:`initialise`.

    >>> vae = build_vae((1, 28, 28), generator=torch.Generator().manual_seed(0))
    >>> vae.latent_size, vae.encoder.widths
    (20, (32, 64))
    """
    shape = tuple(int(side) for side in input_shape)
    if len(shape) not in (1, 3):
        raise SettingsError(f"input_shape={shape}: give (channels, height, width) or (dimensions,).")
    model = default_observation(shape) if observation == "auto" else find_observation(observation)
    if latent_size is None:
        latent_size = _default_latent_size(shape)
    # Layers are born with weights from the global generator: leave that generator as it was.
    with torch.random.fork_rng(devices=[]):
        encoder, decoder = _networks(shape, latent_size, model, widths, hidden)
    initialise(encoder, generator)
    initialise(decoder, generator)
    return VAE(encoder, decoder, model, shape, latent_size, clip=clip)


def _networks(
    shape: tuple[int, ...],
    latent_size: int,
    model: ObservationModel,
    widths: Sequence[int] | None,
    hidden: int | None,
) -> tuple[nn.Module, nn.Module]:
    Q = model.parameters_per_dimension
    if len(shape) == 3:
        wide, dense = tuple(widths) if widths else default_widths(shape), hidden or 0
        return (
            ConvolutionalEncoder(shape, latent_size, widths=wide, hidden=dense),
            ConvolutionalDecoder(shape, latent_size, Q, widths=wide, hidden=dense),
        )
    if hidden is not None:
        raise SettingsError(
            f"hidden={hidden} is for images; the sizes of a vector's hidden layers are widths."
        )
    wide = tuple(widths) if widths else ((64, 64) if shape[0] <= 64 else (256, 256))
    return (
        MLPEncoder(shape[0], latent_size, widths=wide),
        MLPDecoder(shape[0], latent_size, Q, widths=wide),
    )


def _default_latent_size(shape: tuple[int, ...]) -> int:
    if len(shape) == 1:
        return min(32, (shape[0] + 1) // 2)
    return 20 if shape[0] == 1 else 40


def architecture_config(vae: VAE) -> dict[str, Any]:
    """Everything but the weights as JSON-able values, for :func:`vae_from_config`.

    Networks this package did not make are recorded as ``{"kind": "custom"}``: code cannot be saved safely.
    """
    config: dict[str, Any] = {
        "kind": "custom",
        "input_shape": list(vae.input_shape),
        "latent_size": vae.latent_size,
        "observation": observation_to_config(vae.observation),
        "clip": vae.clip,
    }
    encoder, decoder = vae.encoder, vae.decoder
    if type(encoder) is ConvolutionalEncoder and type(decoder) is ConvolutionalDecoder:
        if (encoder.widths, encoder.hidden) == (decoder.widths, decoder.hidden):
            config |= {"kind": "convolutional", "widths": list(encoder.widths), "hidden": encoder.hidden}
    elif type(encoder) is MLPEncoder and type(decoder) is MLPDecoder and encoder.widths == decoder.widths:
        config |= {"kind": "mlp", "widths": list(encoder.widths)}
    return config


def vae_from_config(
    config: Mapping[str, Any],
    *,
    encoder: nn.Module | None = None,
    decoder: nn.Module | None = None,
    observation: OwnObservations = None,
) -> VAE:
    """The VAE that :func:`architecture_config` described; load its weights next.

    A custom one needs the modules it was made of, and an observation model of one's own its class.
    """
    kind = config.get("kind")
    _check_kind(kind)
    _check_sizes(config)
    model = observation_from_config(config["observation"], observation)
    if kind == "custom":
        if encoder is None or decoder is None:
            raise SettingsError(
                "this model was made of custom networks, which are not saved: pass encoder= and decoder= to "
                "BayesianVAE.load, or fit a class that inherits from VAE and has config() and from_config()"
            )
        return VAE(encoder, decoder, model, config["input_shape"], config["latent_size"], clip=config["clip"])
    if encoder is not None or decoder is not None:
        raise SettingsError(f"this model's networks are of kind {kind!r}: leave encoder= and decoder= out.")
    return build_vae(
        config["input_shape"],
        latent_size=config["latent_size"],
        observation=model,
        widths=config["widths"],
        hidden=config.get("hidden"),
        clip=config["clip"],
        generator=torch.Generator().manual_seed(0),
    )


def _check_kind(kind: object) -> None:
    if kind not in ("custom", "convolutional", "mlp"):
        raise SettingsError(f"model config: kind={kind!r} is not known; is it from a newer version?")


def _check_sizes(config: Mapping[str, Any]) -> None:
    sizes = [*config["input_shape"], config["latent_size"], *(config.get("widths") or [1])]
    hidden = config.get("hidden") or 0
    if any(type(size) is not int or size < 1 for size in sizes) or type(hidden) is not int or hidden < 0:
        raise SettingsError("the model's sizes are no whole numbers of at least 1")
    if max(*sizes, hidden) > LARGEST_SIZE:
        raise SettingsError("the model has sizes that no machine can hold")
