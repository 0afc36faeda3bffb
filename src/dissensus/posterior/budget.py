"""What a posterior may spend, whichever it is."""

from __future__ import annotations

from dataclasses import dataclass

from dissensus.errors import SettingsError

__all__ = ["Budget"]


@dataclass(frozen=True)
class Budget:
    """What a posterior may spend: ``chains`` · ``epochs`` passes over the data, whichever posterior it is.

    ``step_size`` is SGHMC's ε; the other samplers take the one that drifts as fast. ``learning_rate`` is
    Adam's, wherever something is optimised or fitted.
    """

    epochs: int
    draws: int
    """M, over all chains; a multiple of them."""
    chains: int = 1
    variant: int = 1
    """1: what a model infers with is optimised, one for each chain; 2: it is drawn with the rest."""
    batch_size: int = 256
    step_size: float = 1e-2
    learning_rate: float = 1e-3
    temperature: float = 1.0
    adaptation: int | None = None
    """For how many epochs a sampler adapts its scales; ``None``: as its rule recommends."""

    def __post_init__(self) -> None:
        if self.variant not in (1, 2):
            raise SettingsError(f"variant must be 1 or 2, got {self.variant!r}")
        if self.chains < 1 or self.draws < 1 or self.draws % self.chains:
            raise SettingsError(f"draws={self.draws} must be a multiple of chains={self.chains}")

    @property
    def draws_per_chain(self) -> int:
        """M/C."""
        return self.draws // self.chains
