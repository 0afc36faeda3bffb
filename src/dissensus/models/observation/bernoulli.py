"""Bernoulli pixels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from dissensus.models.information import information_of_logits
from dissensus.models.observation.base import ObservationModel

__all__ = ["Bernoulli"]

EXACT = 40.0  # where log(1 + eˡ) is l, to the last bit of float64


@dataclass(frozen=True)
class Bernoulli(ObservationModel):
    r"""Bernoulli with logit l, p = σ(l), read as a cross entropy on grey values in between.

    .. math:: \log p(x) = x \log p + (1 - x) \log(1 - p), \qquad x \in [0, 1]

    A density on {0, 1} only: on grey values it is the usual, unnormalised, choice of the VAE literature.

    >>> logits = torch.zeros(1, 1, 4)
    >>> Bernoulli().log_prob(torch.ones(1, 4), logits)
    tensor([-2.7726], dtype=torch.float64)
    """

    name: ClassVar[str] = "bernoulli"

    @property
    def parameters_per_dimension(self) -> int:
        """One: the logit."""
        return 1

    def log_prob_terms(self, x: Tensor, parameters: Tensor) -> Tensor:
        """x·l − log(1 + eˡ), without overflow: (B, *S)."""
        logits = parameters[:, 0]
        x = x.to(logits.dtype)
        if torch.is_grad_enabled():
            return -F.binary_cross_entropy_with_logits(logits, x, reduction="none")
        # The same with half the passes over memory, which a small network's scores would spend their time on.
        return (x * logits).sub_(F.softplus(logits, threshold=EXACT))

    def best_log_prob_terms(self, x: Tensor) -> Tensor:
        """At p = x: x log x + (1 − x) log(1 − x), so that log p falls short of it by KL(x ‖ p): (B, *S)."""
        best: Tensor = -torch.special.entr(x) - torch.special.entr(1 - x)
        return best

    def mean(self, parameters: Tensor) -> Tensor:
        """p = σ(l): (B, *S)."""
        return parameters[:, 0].sigmoid()

    def sample(self, parameters: Tensor, generator: torch.Generator) -> Tensor:
        """Zeros and ones: (B, *S)."""
        p = self.mean(parameters)
        uniform = torch.rand(p.shape, generator=generator, device=p.device, dtype=p.dtype)
        return (uniform < p).to(p.dtype)

    def information(self, parameters: Tensor) -> Tensor:
        """Exact: (M, B, 1, *S) → (B, *S)."""
        return information_of_logits(parameters[:, :, 0])
