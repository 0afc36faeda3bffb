"""Importance sampling in half precision, for GPUs.

A draw is scored this way only after it has been shown, on inputs that it invents itself, that its
log-likelihoods come out within :data:`TOLERANCE` of those in single precision.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from dissensus.models.contract import Inferred
from dissensus.models.importance import (
    from_log_weights,
    importance_log_likelihood,
    importance_samples,
    log_prior_over_q,
)
from dissensus.models.vae.convolutional import ConvolutionalDecoder
from dissensus.models.vae.subpixel import SubpixelDecoder
from dissensus.seeding import torch_stream

if TYPE_CHECKING:
    from dissensus.models.vae.model import VAE

__all__ = ["TOLERANCE", "ReducedScorer", "is_warm"]

TOLERANCE = 0.05
"""Largest |Δ log p̂| in nats that half precision may cost."""

CHECKED = 64  # inputs that a draw invents to be checked on
CHECKED_SAMPLES = 8  # of K: the fewer are averaged over, the less do their errors cancel


class ReducedScorer:
    """log p̂ and its error for tiles of inputs, under the weights that ``vae`` held at :meth:`load`.

    NaN is what half precision cannot tell: inputs that overflow it, and all inputs under weights that do not
    bear it, unless that is known in time to score them in single precision at once. So what an input gets
    depends on the weights and on itself, never on what else is in the tile, and no tile waits for the device.
    """

    def __init__(self, vae: VAE, noise: Tensor, *, compiled: bool = False) -> None:
        assert isinstance(vae.decoder, ConvolutionalDecoder)
        self.vae, self.noise = vae, noise
        self.decoder = SubpixelDecoder(vae.decoder, torch.float16)
        self.score = _compiled() if compiled else _score
        self.compiled = compiled
        random = torch_stream(0, "half precision")
        self.invented = torch.randn(CHECKED, vae.latent_size, generator=random).to(noise.device)
        self.trusted = torch.zeros((), dtype=torch.bool, device=noise.device)
        self.expected = False

    @staticmethod
    def fits(vae: VAE) -> bool:
        """Whether the networks can be written this way."""
        return SubpixelDecoder.fits(vae.decoder)

    def load(self) -> None:
        """Takes over the decoder's present weights, and finds out whether they bear half precision."""
        assert isinstance(self.vae.decoder, ConvolutionalDecoder)
        self.decoder.copy_from(self.vae.decoder)
        invented = self.vae.observation.mean(self.vae.decode(self.invented))
        # Two at a time, blended: what the decoder can give exactly would leave no residual to get wrong.
        x = (invented + invented.flip(0)) / 2
        encoding, noise = self.vae.encode(x), self.noise[:CHECKED_SAMPLES]
        reduced, _ = _score(self.decoder, self.vae.observation, x, *encoding, noise)
        single, _ = importance_log_likelihood(self.vae.log_prob, x, importance_samples(*encoding, noise))
        self.trusted = ((reduced - single).abs() <= TOLERANCE).all()
        # Draws are alike: once one has been found to bear it, the answer is not waited for any more.
        self.expected = self.expected or bool(self.trusted)

    def __call__(self, x: Tensor, inferred: Inferred) -> tuple[Tensor, Tensor]:
        """log p̂ (n,) in float64 and its Monte-Carlo error (n,) of inputs x (n, *S)."""
        x, (mean, log_std) = self.vae.read(x), inferred
        if not self.expected or mean.ndim == 3:  # a mixture of proposals is worked on in single precision
            return importance_log_likelihood(
                self.vae.log_prob, x, importance_samples(mean, log_std, self.noise)
            )
        value, error = self.score(self.decoder, self.vae.observation, x, mean, log_std, self.noise)
        if self.compiled:
            _warm.add(_shapes(self.vae, self.noise, len(x)))
        return value.where(self.trusted, torch.nan), error


_warm: set[tuple[object, ...]] = set()
"""What this process has compiled: for other shapes the compiler starts anew."""


def _shapes(vae: VAE, noise: Tensor, tile: int) -> tuple[object, ...]:
    weights = tuple(parameter.shape for parameter in vae.decoder.parameters())
    return vae.input_shape, repr(vae.observation), weights, noise.shape, tile


def is_warm(vae: VAE, noise: Tensor, tile: int) -> bool:
    """Whether tiles of so many inputs were scored by compiled code in this process."""
    return _shapes(vae, noise, tile) in _warm


def _score(
    decoder: SubpixelDecoder, observation: Any, x: Tensor, mean: Tensor, log_std: Tensor, noise: Tensor
) -> tuple[Tensor, Tensor]:
    """What :func:`importance_log_likelihood` computes, written so that a compiler can fuse all of it."""
    inputs, samples = len(x), len(noise)
    z = mean[:, None] + log_std.exp()[:, None] * noise
    parameters = decoder(z.flatten(0, 1))
    shape = (inputs * samples, *x.shape[1:])
    repeated = x[:, None].expand(inputs, samples, *x.shape[1:]).reshape(shape)
    parameters = parameters.reshape(len(repeated), observation.parameters_per_dimension, *x.shape[1:])
    log_p = observation.log_prob(repeated, parameters).view(inputs, samples)
    return from_log_weights(log_p + log_prior_over_q(z, mean[:, None], log_std[:, None], noise))


@cache
def _compiled() -> Callable[..., tuple[Tensor, Tensor]]:
    """The function as the compiler makes it; where there is no compiler, as it is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch's own modules, which are loaded here
        compiled = torch.compile(_score, dynamic=False)
    state: dict[str, bool] = {}

    def call(*arguments: Any) -> tuple[Tensor, Tensor]:
        if not state.get("broken"):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # the compiler's, about itself and about TF32
                    result: tuple[Tensor, Tensor] = compiled(*arguments)
                return result
            except Exception:  # whatever the compiler stumbles over: a toolchain may lack anything
                state["broken"] = True
        return _score(*arguments)

    return call
