"""How a tile of inputs is scored under the weights that the VAE holds at the moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from dissensus.models.contract import Inferred, PlainScorer, Scorer
from dissensus.models.half_precision import ReducedScorer
from dissensus.models.importance import ImportanceSamples, importance_log_likelihood, importance_samples

if TYPE_CHECKING:
    from dissensus.models.vae import VAE

__all__ = ["ReferenceScorer", "compiled_scorer", "tile_scorer", "tile_shape"]

# Decodings in one call. On a GPU they should fill the chip. On a CPU, convolutions over the few samples of
# one image are about as fast as over many, and one image asked about alone then costs no more than in a
# batch; vectors are so quick that many must share a call's overhead.
GPU_ROWS = 16_384
CPU_IMAGE_ROWS = 16
CPU_VECTOR_ROWS = 256
# Of more samples of one image than these, what the layers hand on would not fit in a core's cache.
CPU_IMAGE_SAMPLES = 64


def tile_shape(vae: VAE, device: torch.device, K: int) -> tuple[int, int]:
    """How many inputs, and how many samples of each, are decoded in one call.

    Every call has about equally many of the K samples.
    """
    if device.type != "cpu":
        rows = samples = GPU_ROWS
    elif len(vae.input_shape) == 1:
        rows = samples = CPU_VECTOR_ROWS
    else:
        rows, samples = CPU_IMAGE_ROWS, CPU_IMAGE_SAMPLES
    calls = -(-K // samples)
    return max(1, rows // K), -(-K // calls)


class ReferenceScorer(PlainScorer):
    """The plain one, for any network and device, which decodes as many samples at once as fit the cache.

    Asked again about the very encodings that it was asked about before, it keeps to their samples.
    """

    def __init__(self, vae: VAE, noise: Tensor) -> None:
        super().__init__(vae, noise)
        self.vae, self.at_once = vae, tile_shape(vae, noise.device, len(noise))
        self.sampled: tuple[Tensor, ImportanceSamples] | None = None

    def __call__(self, x: Tensor, inferred: Inferred) -> tuple[Tensor, Tensor]:
        """log p̂ (n,) in float64 and its Monte-Carlo error (n,)."""
        mean, log_std = inferred
        if self.sampled is None or self.sampled[0] is not mean:
            self.sampled = mean, importance_samples(mean, log_std, self.noise)
        return importance_log_likelihood(
            self.vae.log_prob, self.vae.read(x), self.sampled[1], at_once=self.at_once
        )


def tile_scorer(vae: VAE, noise: Tensor) -> Scorer:
    """The fastest one for the network and the device that needs no compiler."""
    return _scorer(vae, noise, compiled=False)


def compiled_scorer(vae: VAE, noise: Tensor) -> Scorer:
    """The same through torch's compiler, for large matrices on a GPU.

    Twice to three times as fast, after ten seconds for the first tile of a process.
    """
    return _scorer(vae, noise, compiled=True)


def _scorer(vae: VAE, noise: Tensor, *, compiled: bool) -> Scorer:
    if noise.is_cuda and ReducedScorer.fits(vae):
        return ReducedScorer(vae, noise, compiled=compiled)
    return ReferenceScorer(vae, noise)
