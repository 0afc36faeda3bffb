r"""Scale-adapted stochastic gradient Hamiltonian Monte Carlo (Springenberg et al. 2016; Chen et al. 2014).

With the gradient G of the full potential, step size ε, momentum decay α and standard normal ξ, one step is

.. math::
    \rho &= 1 / (\tau + 1) \\
    \tau &\leftarrow \tau + 1 - \tau g^2 / (V + \delta), \quad
    g \leftarrow g + \rho (G - g), \quad
    V \leftarrow V + \rho (G^2 - V) \qquad \text{(while adapting)} \\
    m &= 1 / (\sqrt{V} + \delta) \\
    s^2 &= \max(2 \varepsilon^2 \alpha m - c\, \varepsilon^4,\, 0) \\
    v &\leftarrow v - \varepsilon^2 m G - \alpha v + s\, \xi \\
    \theta &\leftarrow \theta + v

so that it drifts like Adam with a learning rate of ε²/α. The product m·G, about 1 in a settled chain, is
believed up to a bound of 100 only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor

from dissensus.errors import SettingsError
from dissensus.posterior.budget import Budget
from dissensus.posterior.rules.contract import Rule, Vitals
from dissensus.posterior.rules.scale import adapt_scale_, inverse_scale

__all__ = ["SGHMC", "SGHMCState"]


class SGHMCState(NamedTuple):
    """What is carried from step to step, each (P,)."""

    memory: Tensor
    """τ: how many past gradients the running averages remember."""
    mean_gradient: Tensor
    """g"""
    mean_square: Tensor
    """V"""
    momentum: Tensor
    """v"""


@dataclass(frozen=True)
class SGHMC(Rule):
    """Settings of the sampler, and its step.

    ``noise_correction`` is c above, the share of ε⁴ taken off the injected noise because the minibatch brings
    noise of its own: 1 in the paper's formula, 1/N² and 0 in other published code.
    """

    step_size: float = 1e-2
    momentum_decay: float = 0.05
    noise_correction: float = 1.0
    floor: float = 1e-8
    """δ, which also bounds V from below: a weight that never had a gradient must not get an infinite step."""

    bound: float = 100.0
    """Largest ``|m·G|`` that is believed. It is about 1 in a settled chain; without a bound one freak batch
    after the scales were frozen can throw a chain out for good."""

    def __post_init__(self) -> None:
        if not self.step_size > 0:
            raise SettingsError(f"SGHMC's step_size must be above 0, got {self.step_size}")
        if not 0 < self.momentum_decay < 1:
            raise SettingsError(f"SGHMC's momentum_decay must lie between 0 and 1, got {self.momentum_decay}")

    def init(self, weights: Tensor) -> SGHMCState:
        """The state before the first step, for flat weights (P,)."""
        one = torch.ones_like(weights)
        return SGHMCState(one.clone(), one.clone(), one.clone(), torch.zeros_like(weights))

    def step_(self, state: SGHMCState, weights: Tensor, gradient: Tensor, noise: Tensor, adapt: bool) -> None:
        """One step in place; ``gradient`` (P,) is that of the full potential, ``noise`` (P,) is N(0, 1)."""
        tau, g, V, v = state
        if adapt:
            adapt_scale_(tau, g, V, gradient, self.floor)
        m = self.inverse_scale(state)
        eps, alpha = self.step_size, self.momentum_decay
        injected = (m - self.noise_correction * eps**2 / (2 * alpha)).clamp_(min=0).sqrt_()  # s/(ε√(2α))
        v.mul_(1 - alpha)
        v.sub_((m * gradient).clamp_(-self.bound, self.bound), alpha=eps**2)
        v.addcmul_(injected, noise, value=eps * math.sqrt(2 * alpha))
        weights.add_(v)

    def inverse_scale(self, state: SGHMCState) -> Tensor:
        """m = 1/(√V + δ), the preconditioner (P,)."""
        return inverse_scale(state.mean_square, self.floor)

    def kappa(self, state: SGHMCState) -> Tensor:
        """κ = ε²√V/(2α) (P,): above 1/c nothing is injected."""
        return state.mean_square.sqrt() * (self.step_size**2 / (2 * self.momentum_decay))

    def motion(self, state: SGHMCState) -> Tensor:
        """v²/(ε²m) (P,), whose mean is 1/(1 − α/2) when all is well."""
        return state.momentum.square() / (self.step_size**2 * self.inverse_scale(state))

    @property
    def right_temperature(self) -> float:
        """The kinetic temperature of a chain that samples as it should, 1/(1 − α/2)."""
        return 1 / (1 - self.momentum_decay / 2)

    def vitals(self, state: SGHMCState) -> Vitals:
        """κ, where nothing is injected, and how fast each weight moves."""
        kappa = self.kappa(state)
        return Vitals(kappa, self.noise_correction * kappa >= 1, self.motion(state), self.right_temperature)

    def slower(self) -> SGHMC:
        """The same rule with half the step size."""
        return replace(self, step_size=self.step_size / 2)

    @classmethod
    def on(cls, budget: Budget) -> SGHMC:
        """Return the rule with the budget's step size."""
        return cls(budget.step_size)
