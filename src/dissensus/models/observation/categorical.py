"""Categorical pixels: one probability for every grey level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from dissensus.errors import SettingsError
from dissensus.models.information import information_of_categories
from dissensus.models.observation.base import ObservationModel

__all__ = ["Categorical"]

# Logits whose exponentials are held at once where no gradient is wanted: on a CPU they should stay in the
# caches, on a GPU they should fill the chip.
_CPU_LOGITS, _GPU_LOGITS = 1 << 20, 1 << 27


@dataclass(frozen=True)
class Categorical(ObservationModel):
    r"""A softmax over grey levels: x = k/(L−1), k = 0 … L−1.

    .. math:: \log p(x) = l_k - \log\sum_j e^{l_j}, \qquad k = \mathrm{round}(x\,(L-1))

    Exact and free of assumptions on neighbouring levels; the network gives L numbers for every pixel, which
    is most of the work of a step.

    >>> Categorical(levels=4).log_prob(torch.tensor([[1 / 3]]), torch.zeros(1, 4, 1)).exp()
    tensor([0.2500], dtype=torch.float64)
    """

    name: ClassVar[str] = "categorical"

    levels: int = 256
    """L: the number of grey levels."""

    def __post_init__(self) -> None:
        if not 2 <= self.levels <= 65536:
            raise SettingsError(f"Categorical levels={self.levels}: give 2 to 65536.")

    @property
    def parameters_per_dimension(self) -> int:
        """L logits."""
        return self.levels

    def log_prob_terms(self, x: Tensor, parameters: Tensor) -> Tensor:
        """The logit of x's level minus the log of the sum over levels: (B, *S)."""
        k = (x * (self.levels - 1)).round().clamp(0, self.levels - 1).long()
        # A log-softmax would write all L log-probabilities to read one of them.
        chosen = parameters.gather(1, k.unsqueeze(1)).squeeze(1)
        return chosen - _log_total(parameters)

    def best_log_prob_terms(self, x: Tensor) -> Tensor:
        """Zero: all probability on x's level: (B, *S)."""
        return torch.zeros_like(x)

    def mean(self, parameters: Tensor) -> Tensor:
        """Σ_k p_k·k/(L−1): (B, *S)."""
        grid = torch.linspace(0, 1, self.levels, device=parameters.device, dtype=parameters.dtype)
        return torch.einsum("bq...,q->b...", parameters.softmax(1), grid)

    def sample(self, parameters: Tensor, generator: torch.Generator) -> Tensor:
        """By the Gumbel-max trick, values k/(L−1): (B, *S)."""
        waiting = torch.empty_like(parameters).exponential_(generator=generator)
        return (parameters - waiting.log()).argmax(1).to(parameters.dtype) / (self.levels - 1)

    def information(self, parameters: Tensor) -> Tensor:
        """Exact: (M, B, L, *S) → (B, *S)."""
        return information_of_categories(parameters.log_softmax(2).movedim(2, -1))


def _log_total(parameters: Tensor) -> Tensor:
    """The log of the sum over levels, (B, L, *S) → (B, *S), a few rows at a time.

    torch's own function writes the exponentials of all it is given: a second copy of what is by far the
    largest tensor of a model. A compiler needs no such help, and gradients are as large anyway.
    """
    if torch.is_grad_enabled() or torch.compiler.is_compiling() or not parameters.numel():
        return parameters.logsumexp(1)
    most = _CPU_LOGITS if parameters.device.type == "cpu" else _GPU_LOGITS
    rows = max(1, most // parameters[0].numel())
    parts = parameters.split(rows)  # type: ignore[no-untyped-call]
    return torch.cat([part.logsumexp(1) for part in parts]) if len(parts) > 1 else parameters.logsumexp(1)
