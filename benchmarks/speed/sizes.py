"""How much of everything is measured: enough for steady numbers, and no more."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Sizes", "find_sizes"]


@dataclass(frozen=True)
class Sizes:
    """Counts of one device; ``chains`` and the like are the points of an axis."""

    training_images: int
    batch_size: int
    chains: tuple[int, ...]
    compared_chains: tuple[int, ...]
    """How many chains run where training is compared with others'."""
    rounds: int
    """Timed repetitions; the median counts."""
    scored_images: int
    draws: tuple[int, ...]
    samples: tuple[int, ...]
    base_draws: int
    base_samples: int
    growth_images: tuple[int, ...]
    growth_draws: tuple[int, ...]
    growth_samples: tuple[int, ...]
    growth_base: tuple[int, int, int]
    """N, M and K where another of them grows."""
    single_rounds: int
    accuracy_epochs: int
    peer_images: int
    """Images of one epoch beside other packages."""
    peer_scored: int
    """Images that get importance-sampled likelihoods from other packages."""
    quick: bool = False
    """Too little of everything to be a result."""


_CPU = Sizes(
    training_images=6144,
    batch_size=256,
    chains=(1, 2, 4),
    compared_chains=(1, 2),
    rounds=5,
    scored_images=64,
    draws=(2, 4, 8),
    samples=(8, 16, 32),
    base_draws=4,
    base_samples=16,
    # Where the work outweighs what a call costs: below K = 64 a decoding gets cheaper as K grows.
    growth_images=(64, 128, 256, 512),
    growth_draws=(4, 8, 16, 32),
    growth_samples=(64, 128, 256, 512),
    growth_base=(32, 4, 64),
    single_rounds=100,
    accuracy_epochs=4,
    peer_images=6000,
    peer_scored=32,
)
_CPU_QUICK = Sizes(
    training_images=512,
    batch_size=128,
    chains=(1, 2),
    compared_chains=(2,),
    rounds=1,
    scored_images=16,
    draws=(1, 2),
    samples=(4, 8),
    base_draws=2,
    base_samples=8,
    growth_images=(16, 32),
    growth_draws=(1, 2),
    growth_samples=(4, 8),
    growth_base=(16, 1, 4),
    single_rounds=5,
    accuracy_epochs=1,
    peer_images=512,
    peer_scored=4,
    quick=True,
)
_CUDA = Sizes(
    training_images=60_000,
    batch_size=256,
    chains=(1, 2, 4, 8, 16),
    compared_chains=(8,),
    rounds=3,
    scored_images=8192,
    draws=(4, 8, 16),
    samples=(16, 32, 64),
    base_draws=8,
    base_samples=32,
    # As on a CPU, where the work outweighs what a draw costs: half a second and more.
    growth_images=(16_384, 32_768, 65_536, 131_072),
    growth_draws=(4, 8, 16, 32),
    growth_samples=(64, 128, 256, 512),
    growth_base=(16_384, 4, 64),
    single_rounds=100,
    accuracy_epochs=4,
    peer_images=60_000,
    peer_scored=64,
)
_CUDA_QUICK = Sizes(
    training_images=5120,
    batch_size=256,
    chains=(1, 8),
    compared_chains=(8,),
    rounds=1,
    scored_images=256,
    draws=(2, 4),
    samples=(16, 32),
    base_draws=2,
    base_samples=32,
    growth_images=(512, 1024),
    growth_draws=(2, 4),
    growth_samples=(16, 32),
    growth_base=(512, 2, 16),
    single_rounds=5,
    accuracy_epochs=1,
    peer_images=5120,
    peer_scored=4,
    quick=True,
)


def find_sizes(device: str, *, quick: bool) -> Sizes:
    """The sizes for ``cpu`` or ``cuda``.

    >>> find_sizes("cuda", quick=False).chains
    (1, 2, 4, 8, 16)
    """
    if device == "cuda":
        return _CUDA_QUICK if quick else _CUDA
    return _CPU_QUICK if quick else _CPU
