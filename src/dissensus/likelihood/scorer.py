"""How a tile of inputs is scored under the weights that the VAE holds at the moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from torch import Tensor

from dissensus.likelihood.importance import ImportanceSamples, importance_log_likelihood, importance_samples
from dissensus.likelihood.reduced import ReducedScorer
from dissensus.models import VAE

__all__ = ["MakeScorer", "ReferenceScorer", "TileScorer", "compiled_scorer", "tile_scorer", "tile_shape"]

# Decodings in one call. On a GPU they should fill the chip. On a CPU, convolutions over the few samples of
# one image are about as fast as over many, and one image asked about alone then costs no more than in a
# batch; vectors are so quick that many must share a call's overhead.
GPU_ROWS = 16_384
CPU_IMAGE_ROWS = 16
CPU_VECTOR_ROWS = 256
# Of more samples of one image than these, what the layers hand on would not fit in a core's cache.
CPU_IMAGE_SAMPLES = 64


def tile_shape(vae: VAE, noise: Tensor) -> tuple[int, int]:
    """How many inputs, and how many samples of each, are decoded in one call.

    ``noise`` (K, Z) is on the device to do it on. Every call has about equally many of the K samples.
    """
    if noise.device.type != "cpu":
        rows = samples = GPU_ROWS
    elif len(vae.input_shape) == 1:
        rows = samples = CPU_VECTOR_ROWS
    else:
        rows, samples = CPU_IMAGE_ROWS, CPU_IMAGE_SAMPLES
    calls = -(-len(noise) // samples)
    return max(1, rows // len(noise)), -(-len(noise) // calls)


class TileScorer(Protocol):
    """Inputs x (n, *S) with their encoding, mean and log σ (n, Z) each → log p̂ (n,) and its error (n,).

    They come in whole tiles: on a GPU one at a time, on a CPU several.
    What does not come out finite is scored again by the :class:`ReferenceScorer`.
    """

    def load(self) -> None:
        """Called whenever the decoder has been given other weights."""

    def __call__(self, x: Tensor, mean: Tensor, log_std: Tensor) -> tuple[Tensor, Tensor]: ...  # noqa: D102


MakeScorer: TypeAlias = Callable[[VAE, Tensor], TileScorer]
"""From a VAE and noise (K, Z) on the same device."""


class ReferenceScorer:
    """The plain one, for any network and device.

    Asked again about the very encodings that it was asked about before, it keeps to their samples.
    """

    def __init__(self, vae: VAE, noise: Tensor) -> None:
        self.vae, self.noise, self.at_once = vae, noise, tile_shape(vae, noise)
        self.sampled: tuple[Tensor, ImportanceSamples] | None = None

    def load(self) -> None:
        """Nothing to do: the VAE itself is run."""

    def __call__(self, x: Tensor, mean: Tensor, log_std: Tensor) -> tuple[Tensor, Tensor]:
        """log p̂ (n,) in float64 and its Monte-Carlo error (n,)."""
        if self.sampled is None or self.sampled[0] is not mean:
            self.sampled = mean, importance_samples(mean, log_std, self.noise)
        return importance_log_likelihood(self.vae, x, self.sampled[1], at_once=self.at_once)


def tile_scorer(vae: VAE, noise: Tensor) -> TileScorer:
    """The fastest one for the network and the device that needs no compiler."""
    return _scorer(vae, noise, compiled=False)


def compiled_scorer(vae: VAE, noise: Tensor) -> TileScorer:
    """The same through torch's compiler, for large matrices on a GPU.

    Twice to three times as fast, after ten seconds for the first tile of a process.
    """
    return _scorer(vae, noise, compiled=True)


def _scorer(vae: VAE, noise: Tensor, *, compiled: bool) -> TileScorer:
    if noise.is_cuda and ReducedScorer.fits(vae):
        return ReducedScorer(vae, noise, compiled=compiled)
    return ReferenceScorer(vae, noise)
