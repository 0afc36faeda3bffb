"""How a tile of inputs is scored under the weights that the VAE holds at the moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from torch import Tensor

from dissensus.likelihood.importance import importance_log_likelihood
from dissensus.likelihood.reduced import ReducedScorer
from dissensus.models import VAE

__all__ = ["MakeScorer", "ReferenceScorer", "TileScorer", "compiled_scorer", "tile_scorer"]


class TileScorer(Protocol):
    """Inputs x (n, *S) with their encoding, mean and log σ (n, Z) each → log p̂ (n,) and its error (n,).

    What does not come out finite is scored again by the :class:`ReferenceScorer`.
    """

    def load(self) -> None:
        """Called whenever the decoder has been given other weights."""

    def __call__(self, x: Tensor, mean: Tensor, log_std: Tensor) -> tuple[Tensor, Tensor]: ...  # noqa: D102


MakeScorer: TypeAlias = Callable[[VAE, Tensor], TileScorer]
"""From a VAE and noise (K, Z) on the same device."""


class ReferenceScorer:
    """The plain one, for any network and device."""

    def __init__(self, vae: VAE, noise: Tensor) -> None:
        self.vae, self.noise = vae, noise

    def load(self) -> None:
        """Nothing to do: the VAE itself is run."""

    def __call__(self, x: Tensor, mean: Tensor, log_std: Tensor) -> tuple[Tensor, Tensor]:
        """log p̂ (n,) in float64 and its Monte-Carlo error (n,)."""
        return importance_log_likelihood(self.vae, x, mean, log_std, self.noise)


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
