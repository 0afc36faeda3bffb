r"""Mean-field variational inference over the weights (Graves 2011; Blundell et al. 2015).

:math:`q(\theta) = N(\mu, \mathrm{diag}\, \sigma^2)` is fitted by Adam on μ and log σ, descending

.. math::
    F = \frac1T \Big( \mathrm E_q\Big[ -\sum_{x \in D} \log p(x|\theta) \Big]
        + \tfrac12 \sum_i \lambda_i (\mu_i^2 + \sigma_i^2) \Big) - \sum_i \log \sigma_i

whose first term is estimated on a minibatch with noise of its own for every input
(:mod:`dissensus.posterior.rules.weight_noise`). The precisions λ of the prior are set once an epoch to their
mean under their own best q, :math:`(a_0 + n_k/2) / (b_0 + \mathrm E_q \lVert w_k \rVert^2 / 2)`. Draws are
samples of the q that the last epoch ends with.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from dissensus.errors import SettingsError
from dissensus.posterior.budget import Budget
from dissensus.posterior.flat import FlatParameters, Layout
from dissensus.posterior.potential import Potential
from dissensus.posterior.priors import GammaHyperprior
from dissensus.posterior.rules.adam import Adam, AdamState
from dissensus.posterior.rules.contract import Drawn, Ending, Rule, Schedule
from dissensus.posterior.rules.weight_noise import WeightNoise

__all__ = ["Variational", "VariationalState"]


class VariationalState(NamedTuple):
    """log σ (P,) and its gradient (P,), and Adam's state for μ and for log σ."""

    log_std: Tensor
    log_std_gradient: Tensor
    """Filled by backward passes and emptied by steps."""
    mean_gradient: Tensor
    mean_square: Tensor
    steps: Tensor
    log_std_mean_gradient: Tensor
    log_std_mean_square: Tensor
    log_std_steps: Tensor


@dataclass(frozen=True)
class Variational(Rule):
    """Settings of the fit, and its step."""

    optimiser: Adam = field(default_factory=Adam)
    """Of μ."""
    std_optimiser: Adam = field(default_factory=lambda: Adam(1e-2))
    """Of log σ, whose gradient is 1 part signal to √(N/B) parts noise near the optimum: at the learning rate
    of μ, σ would be where it started when μ has long arrived."""
    initial_std: float = 1e-2
    """σ at the start, for all weights."""

    noisy: ClassVar[bool] = False
    fitted: ClassVar[bool] = True
    keeps: ClassVar[bool] = False
    divisible: ClassVar[bool] = False  # layers draw their noise in the order of the forward pass

    def __post_init__(self) -> None:
        if not self.initial_std > 0:
            raise SettingsError(f"Variational's initial_std must be above 0, got {self.initial_std}")

    @property
    def step_size(self) -> float:
        """Adam's learning rate."""
        return self.optimiser.learning_rate

    def init(self, weights: Tensor) -> VariationalState:
        """The state before the first step, for flat means μ (P,)."""
        log_std = torch.full_like(weights, math.log(self.initial_std))
        adam, std_adam = self.optimiser.init(weights), self.std_optimiser.init(weights)
        return VariationalState(log_std, torch.zeros_like(log_std), *adam, *std_adam)

    def step_(
        self,
        state: VariationalState,
        weights: Tensor,
        gradient: Tensor,
        noise: Tensor | None = None,  # noqa: ARG002
        adapt: bool = False,  # noqa: ARG002
    ) -> None:
        """One step of μ and log σ in place; both gradients (P,) are those of F, divided by N."""
        self.optimiser.step_(AdamState(*state[2:5]), weights, gradient)
        self.std_optimiser.step_(AdamState(*state[5:8]), state.log_std, state.log_std_gradient)
        state.log_std_gradient.zero_()

    def scale_(
        self,
        state: VariationalState,
        weights: Tensor,
        gradient: Tensor,
        precision: Tensor,
        potential: Potential,
    ) -> None:
        """Turn both gradients, in place, into those of F, divided by N."""
        variance, N = (2 * state.log_std).exp_(), potential.training_size
        potential.full_gradient_(gradient, weights, precision).div_(N)
        of_log_std = potential.full_gradient_(state.log_std_gradient, variance, precision)
        of_log_std.sub_(1).div_(N)  # −1: the entropy

    def perturbation(
        self, state: VariationalState, module: nn.Module, parameters: FlatParameters
    ) -> WeightNoise:
        """Return the noise of q, another for every input."""
        return WeightNoise(module, parameters, state.log_std, state.log_std_gradient)

    def precision(
        self,
        state: VariationalState,
        weights: Tensor,
        layout: Layout,
        hyperprior: GammaHyperprior,
        random: np.random.Generator,  # noqa: ARG002
    ) -> Tensor:
        """Return the mean of the prior's precisions under their own best q."""
        return hyperprior.expected(weights.square() + (2 * state.log_std).exp(), layout)

    def finish(self, ending: Ending) -> Drawn:
        """Samples of q, each part's from a stream of its own."""
        draws = [
            {
                name: self.draw(state, mean, ending.stream("draw", name, number))
                for name, (state, mean) in ending.states.items()
            }
            for number in range(ending.count)
        ]
        return Drawn([(ending.epochs, draw) for draw in draws])

    def draw(self, state: VariationalState, mean: Tensor, generator: torch.Generator) -> Tensor:
        """θ = μ + σξ (P,), a sample of q, on the CPU."""
        noise = torch.randn(mean.shape, generator=generator)
        return mean.cpu() + state.log_std.cpu().exp() * noise

    def slower(self) -> Variational:
        """The same rule with half the learning rates."""
        return replace(self, optimiser=self.optimiser.slower(), std_optimiser=self.std_optimiser.slower())

    @classmethod
    def on(cls, budget: Budget) -> Variational:
        """Return the rule with the budget's learning rate for the means."""
        return cls(Adam.on(budget))

    def schedule(self, epochs: int, draws: int) -> Schedule:
        """Keep nothing on the way: draws are made of the last means and widths."""
        return Schedule(epochs, burn_in=epochs, fitted_draws=draws)
