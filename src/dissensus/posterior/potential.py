r"""The potential energy: the only place where N, the batch, the prior and the temperature meet.

.. math:: U(\theta) = \frac{1}{T} \Big( -\sum_{x \in D} \log p(x|\theta) - \log p(\theta) \Big)

The log-likelihood is replaced by the model's objective, which is a bound where it is intractable, and the sum
over N inputs by N/B times that over a batch.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from dissensus.errors import SettingsError

__all__ = ["Potential"]


@dataclass(frozen=True)
class Potential:
    """Turns the gradient of a batch's negative objective into that of the full potential."""

    training_size: int
    batch_size: int
    temperature: float = 1.0

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise SettingsError(f"temperature must be above 0, got {self.temperature}")

    def full_gradient_(self, gradient: Tensor, weights: Tensor, precision: Tensor) -> Tensor:
        """In place: ∇(−Σ_batch objective) (P,) becomes ((N/B)·∇(−Σ_batch objective) + λ·w)/T (P,)."""
        gradient.mul_(self.training_size / self.batch_size)
        gradient.addcmul_(precision, weights)
        return gradient.div_(self.temperature) if self.temperature != 1.0 else gradient

    def mean_gradient_(self, gradient: Tensor) -> Tensor:
        """In place: ∇(−Σ_batch objective) (P,) becomes that of the batch's mean, for what is optimised."""
        return gradient.div_(self.batch_size)
