r"""Preconditioned stochastic gradient Langevin dynamics (Welling and Teh 2011; Li et al. 2016).

With the gradient G of the full potential, step size h, standard normal ξ and the scale m that SGHMC adapts
too (:mod:`dissensus.posterior.rules.scale`), one step is

.. math::
    s^2 = \max(2 h m - c\, h^2,\, 0), \qquad
    \theta \leftarrow \theta - h m G + s\, \xi

The minibatch brings noise of variance about :math:`h^2 m^2 V \approx h^2` of its own, which c takes off the
injected one. SGHMC with step size ε and momentum decay α drifts as fast where h = ε²/α; without its momentum
the same way is walked by diffusion, so draws lie closer together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor

from dissensus.errors import SettingsError
from dissensus.posterior.budget import Budget
from dissensus.posterior.rules.contract import Rule, Vitals
from dissensus.posterior.rules.scale import adapt_scale_, inverse_scale
from dissensus.posterior.rules.sghmc import SGHMC

__all__ = ["SGLD", "SGLDState"]


class SGLDState(NamedTuple):
    """What is carried from step to step, each (P,)."""

    memory: Tensor
    """τ: how many past gradients the running averages remember."""
    mean_gradient: Tensor
    """g"""
    mean_square: Tensor
    """V"""
    displacement: Tensor
    """The last step, whose size is the temperature of the motion."""


@dataclass(frozen=True)
class SGLD(Rule):
    """Settings of the sampler, and its step. The same letters mean the same as in SGHMC."""

    step_size: float = 2e-3
    noise_correction: float = 1.0
    floor: float = 1e-8
    bound: float = 100.0
    """Largest ``|m·G|`` that is believed, as in SGHMC."""

    def __post_init__(self) -> None:
        if not self.step_size > 0:
            raise SettingsError(f"SGLD's step_size must be above 0, got {self.step_size}")

    def init(self, weights: Tensor) -> SGLDState:
        """The state before the first step, for flat weights (P,)."""
        one = torch.ones_like(weights)
        return SGLDState(one.clone(), one.clone(), one.clone(), torch.zeros_like(weights))

    def step_(self, state: SGLDState, weights: Tensor, gradient: Tensor, noise: Tensor, adapt: bool) -> None:
        """One step in place; ``gradient`` (P,) is that of the full potential, ``noise`` (P,) is N(0, 1)."""
        tau, g, V, displacement = state
        if adapt:
            adapt_scale_(tau, g, V, gradient, self.floor)
        m = self.inverse_scale(state)
        noise_variance = (m * (2 * self.step_size)).sub_(self.noise_correction * self.step_size**2)
        torch.mul(noise_variance.clamp_(min=0).sqrt_(), noise, out=displacement)
        displacement.sub_((m * gradient).clamp_(-self.bound, self.bound), alpha=self.step_size)
        weights.add_(displacement)

    def inverse_scale(self, state: SGLDState) -> Tensor:
        """m = 1/(√V + δ), the preconditioner (P,)."""
        return inverse_scale(state.mean_square, self.floor)

    def kappa(self, state: SGLDState) -> Tensor:
        """κ = h√V/2 (P,): above 1/c nothing is injected."""
        return state.mean_square.sqrt() * (self.step_size / 2)

    def motion(self, state: SGLDState) -> Tensor:
        """(Δθ)²/(2hm) (P,), whose mean is near 1 when all is well."""
        return state.displacement.square() / (2 * self.step_size * self.inverse_scale(state))

    def vitals(self, state: SGLDState) -> Vitals:
        """κ, where nothing is injected, and how fast each weight moves."""
        kappa = self.kappa(state)
        return Vitals(kappa, self.noise_correction * kappa >= 1, self.motion(state), 1.0)

    def slower(self) -> SGLD:
        """The same rule, as much slower as SGHMC is with half its step size."""
        return replace(self, step_size=self.step_size / 4)  # h = ε²/α

    @classmethod
    def on(cls, budget: Budget) -> SGLD:
        """Return the rule that drifts as SGHMC would on this budget, h = ε²/α."""
        return cls(budget.step_size**2 / SGHMC().momentum_decay)
