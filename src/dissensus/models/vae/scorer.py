"""How a tile of inputs is scored under the weights that the VAE holds at the moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from dissensus.models.contract import Inferred, PlainScorer, Scorer
from dissensus.models.importance import ImportanceSamples, importance_log_likelihood, importance_samples
from dissensus.models.vae.half_precision import ReducedScorer, is_warm

if TYPE_CHECKING:
    from dissensus.models.vae.model import VAE

__all__ = [
    "ReferenceScorer",
    "compiled_scorer",
    "inputs_at_once",
    "samples_at_once",
    "sized_scorer",
    "tile_scorer",
]

# Decodings in one call. On a GPU they should fill the chip. On a CPU, convolutions over the few samples of
# one image are about as fast as over many, and one image asked about alone then costs no more than in a
# batch; vectors are so quick that many must share a call's overhead.
GPU_ROWS = 16_384
CPU_IMAGE_ROWS = 16
CPU_VECTOR_ROWS = 256
# Decodings a second on an H200, and seconds until the compiler has made what a process needs (the records
# `decoding` and `end-to-end` in results/speed/cuda.jsonl): beyond 350 million decodings it is sooner done.
EAGER, COMPILED, WARM_UP = 7.5e6, 13.4e6, 20.6
# Of more samples of one image than these, what the layers hand on would not fit in a core's cache.
CPU_IMAGE_SAMPLES = 64


def inputs_at_once(vae: VAE, device: torch.device, K: int) -> int:
    """How many inputs, with K samples each, are decoded in one call."""
    if device.type != "cpu":
        return max(1, GPU_ROWS // K)
    return max(1, (CPU_VECTOR_ROWS if len(vae.input_shape) == 1 else CPU_IMAGE_ROWS) // K)


def samples_at_once(vae: VAE, device: torch.device, K: int) -> int:
    """How many of an input's K samples are decoded in one call: about equally many in each."""
    if device.type != "cpu":
        most = GPU_ROWS
    else:
        most = CPU_VECTOR_ROWS if len(vae.input_shape) == 1 else CPU_IMAGE_SAMPLES
    return -(-K // -(-K // most))


class ReferenceScorer(PlainScorer):
    """The plain one, for any network and device, which decodes as many samples at once as fit the cache.

    Asked again about the very encodings that it was asked about before, it keeps to their samples.
    """

    def __init__(self, vae: VAE, noise: Tensor, tile: int) -> None:
        super().__init__(vae, noise, tile)
        self.vae, self.at_once = vae, (tile, samples_at_once(vae, noise.device, len(noise)))
        self.sampled: tuple[Tensor, ImportanceSamples] | None = None

    def __call__(self, x: Tensor, inferred: Inferred) -> tuple[Tensor, Tensor]:
        """log p̂ (n,) in float64 and its Monte-Carlo error (n,)."""
        mean, log_std = inferred
        if self.sampled is None or self.sampled[0] is not mean:
            self.sampled = mean, importance_samples(mean, log_std, self.noise)
        return importance_log_likelihood(
            self.vae.log_prob, self.vae.read(x), self.sampled[1], at_once=self.at_once
        )


def tile_scorer(vae: VAE, noise: Tensor, tile: int) -> Scorer:
    """The fastest one for the network and the device that needs no compiler."""
    return _scorer(vae, noise, tile, compiled=False)


def compiled_scorer(vae: VAE, noise: Tensor, tile: int) -> Scorer:
    """The same through torch's compiler, for large matrices on a GPU.

    Nearly twice as fast, after twenty seconds for the first tile of a process.
    """
    return _scorer(vae, noise, tile, compiled=True)


def sized_scorer(vae: VAE, noise: Tensor, tile: int, decodings: int) -> Scorer:
    """The compiled one where so many decodings pay for its warm-up, or it is warm already; else the other."""
    return _scorer(vae, noise, tile, compiled=is_warm(vae, noise, tile) or _pays(decodings))


def _pays(decodings: int) -> bool:
    return decodings * (1 / EAGER - 1 / COMPILED) > WARM_UP


def _scorer(vae: VAE, noise: Tensor, tile: int, *, compiled: bool) -> Scorer:
    if noise.is_cuda and tile > 1 and ReducedScorer.fits(vae):
        return ReducedScorer(vae, noise, compiled=compiled)
    return ReferenceScorer(vae, noise, tile)
