r"""Mean-field variational inference over the weights (Graves 2011; Blundell et al. 2015).

:math:`q(\theta) = N(\mu, \mathrm{diag}\, \sigma^2)` is fitted by Adam on μ and log σ, descending

.. math::
    F = \frac1T \Big( \mathrm E_q\Big[ -\sum_{x \in D} \log p(x|\theta) \Big]
        + \tfrac12 \sum_i \lambda_i (\mu_i^2 + \sigma_i^2) \Big) - \sum_i \log \sigma_i

whose first term is estimated on a minibatch with noise of its own for every input
(:mod:`dissensus.posterior.weight_noise`). The precisions λ of the prior are set once an epoch to their mean
under their own best q, :math:`(a_0 + n_k/2) / (b_0 + \mathrm E_q \lVert w_k \rVert^2 / 2)`. Draws are samples
of the q that the last epoch ends with.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor

from dissensus.errors import SettingsError
from dissensus.posterior.adam import Adam, AdamState

__all__ = ["Variational", "VariationalState"]


class VariationalState(NamedTuple):
    """log σ (P,), and Adam's state for μ and for log σ."""

    log_std: Tensor
    mean_gradient: Tensor
    mean_square: Tensor
    steps: Tensor
    log_std_mean_gradient: Tensor
    log_std_mean_square: Tensor
    log_std_steps: Tensor


@dataclass(frozen=True)
class Variational:
    """Settings of the fit, and its step."""

    optimiser: Adam = field(default_factory=Adam)
    """Of μ."""
    std_optimiser: Adam = field(default_factory=lambda: Adam(1e-2))
    """Of log σ, whose gradient is 1 part signal to √(N/B) parts noise near the optimum: at the learning rate
    of μ, σ would be where it started when μ has long arrived."""
    initial_std: float = 1e-2
    """σ at the start, for all weights."""

    samples: ClassVar[bool] = True
    fitted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.initial_std > 0:
            raise SettingsError(f"Variational's initial_std must be above 0, got {self.initial_std}")

    @property
    def step_size(self) -> float:
        """Adam's learning rate."""
        return self.optimiser.learning_rate

    def slower(self) -> Variational:
        """The same rule with half the learning rates."""
        return replace(self, optimiser=self.optimiser.slower(), std_optimiser=self.std_optimiser.slower())

    def init(self, weights: Tensor) -> VariationalState:
        """The state before the first step, for flat means μ (P,)."""
        log_std = torch.full_like(weights, math.log(self.initial_std))
        return VariationalState(log_std, *self.optimiser.init(weights), *self.std_optimiser.init(weights))

    def step_(
        self, state: VariationalState, mean: Tensor, mean_gradient: Tensor, log_std_gradient: Tensor
    ) -> None:
        """One step of μ and log σ in place; both gradients (P,) are those of F, divided by N."""
        self.optimiser.step_(AdamState(*state[1:4]), mean, mean_gradient)
        self.std_optimiser.step_(AdamState(*state[4:7]), state.log_std, log_std_gradient)

    def draw(self, state: VariationalState, mean: Tensor, generator: torch.Generator) -> Tensor:
        """θ = μ + σξ (P,), a sample of q, on the CPU."""
        noise = torch.randn(mean.shape, generator=generator)
        return mean.cpu() + state.log_std.cpu().exp() * noise
