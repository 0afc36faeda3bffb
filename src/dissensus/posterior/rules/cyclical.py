r"""Cyclical SGHMC (Zhang et al. 2020): in every cycle the step size falls from its largest value to zero.

With t epochs gone of a cycle of L,

.. math:: \varepsilon_t^2 = \tfrac12 \varepsilon^2 \big( \cos(\pi t / L) + 1 \big)

Long steps at the start of a cycle carry the chain to another mode, short ones at its end sample it. While it
explores (the first E epochs) no noise is injected and the scales adapt; after that a step is one of
:mod:`dissensus.posterior.rules.sghmc` with step size ε_t and frozen scales, and draws are kept. The momentum
v, whose thermal size is ε_t√m, shrinks with ε_t: left as it is, it would be that of longer steps, too hot.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from dissensus.errors import SettingsError
from dissensus.posterior.budget import Budget
from dissensus.posterior.rules.contract import Rule, Schedule, Vitals
from dissensus.posterior.rules.scale import adapt_scale_, inverse_scale
from dissensus.schedule import kept_epochs

if TYPE_CHECKING:
    from dissensus.posterior.settings import SamplingSettings

__all__ = ["CyclicalSGHMC", "CyclicalState"]

SHORTEST_CYCLE = 10  # epochs: a chain that starts over sooner has not arrived anywhere
EXPLORED = 0.6  # share of a cycle that explores; the draws come from its last third


class CyclicalState(NamedTuple):
    """What is carried from step to step: SGHMC's state, each (P,), and three numbers ().

    The clock is on the device, so that a captured step moves it on when it is replayed.
    """

    memory: Tensor
    mean_gradient: Tensor
    mean_square: Tensor
    momentum: Tensor
    position: Tensor
    """t: how many epochs of the cycle are gone."""
    pace: Tensor
    """How much of an epoch a step is."""
    heat: Tensor
    """What thermal motion would make of v²/m by now, the steps having been of many sizes."""


@dataclass(frozen=True)
class CyclicalSGHMC(Rule):
    """Settings of the sampler, and its step. The same letters mean the same as in SGHMC."""

    cycle: int
    """L, in epochs."""
    exploration: int
    """E, in epochs."""
    step_size: float = 1e-2
    """ε, the largest."""
    momentum_decay: float = 0.05
    noise_correction: float = 1.0
    floor: float = 1e-8
    bound: float = 100.0

    def __post_init__(self) -> None:
        if not self.step_size > 0:
            raise SettingsError(f"CyclicalSGHMC's step_size must be above 0, got {self.step_size}")
        if not 0 < self.momentum_decay < 1:
            raise SettingsError(
                f"CyclicalSGHMC's momentum_decay must lie between 0 and 1, got {self.momentum_decay}"
            )
        if not 1 <= self.exploration < self.cycle:
            raise SettingsError(
                f"exploration={self.exploration} must leave epochs to sample in a cycle={self.cycle}, "
                "and be at least 1"
            )

    def init(self, weights: Tensor) -> CyclicalState:
        """The state before the first step, for flat weights (P,)."""
        one = torch.ones_like(weights)
        position, pace, heat = torch.zeros(3, dtype=torch.float64, device=weights.device)
        return CyclicalState(
            one.clone(), one.clone(), one.clone(), torch.zeros_like(weights), position, pace, heat
        )

    def step_(
        self, state: CyclicalState, weights: Tensor, gradient: Tensor, noise: Tensor, adapt: bool
    ) -> None:
        """One step in place; ``gradient`` (P,) is that of the full potential, ``noise`` (P,) is N(0, 1)."""
        tau, g, V, v, position, pace, heat = state
        if adapt:
            adapt_scale_(tau, g, V, gradient, self.floor)
        m, retained = self.inverse_scale(state), 1 - self.momentum_decay
        eps2 = self._squared_step_size(position)
        sampling = (position >= self.exploration).to(eps2.dtype)
        injected = 2 * self.momentum_decay * sampling * eps2
        noise_variance = m * injected.to(m.dtype)
        noise_variance.sub_((self.noise_correction * sampling * eps2.square()).to(m.dtype)).clamp_(min=0)
        v.mul_(retained)
        v.sub_((m * gradient).clamp_(-self.bound, self.bound).mul_(eps2.to(m.dtype)))
        v.addcmul_(noise_variance.sqrt_(), noise)
        weights.add_(v)
        heat.mul_(retained**2).add_(injected)
        position.add_(pace)
        shrinks = (sampling > 0) & (position < self.cycle - pace / 2)  # not to nothing at the cycle's end
        shrink = torch.where(shrinks, self._squared_step_size(position) / eps2, 1.0)
        v.mul_(shrink.sqrt().to(v.dtype))
        heat.mul_(shrink)

    def begin_epoch(self, state: CyclicalState, epoch: int, steps: int) -> None:
        """Sets the clock to the start of epoch ``epoch`` (counted from 1) of ``steps`` steps."""
        state.position.fill_((epoch - 1) % self.cycle)
        state.pace.fill_(1 / steps)

    def inverse_scale(self, state: CyclicalState) -> Tensor:
        """m = 1/(√V + δ), the preconditioner (P,)."""
        return inverse_scale(state.mean_square, self.floor)

    def sampled(self, state: CyclicalState) -> bool:
        """Whether the last step was one of a sampling stage."""
        return float(state.position - state.pace / 2) > self.exploration

    def kappa(self, state: CyclicalState) -> Tensor:
        """κ = ε_t²√V/(2α) (P,) at this point of the cycle."""
        eps2 = self._squared_step_size(state.position) / (2 * self.momentum_decay)
        return state.mean_square.sqrt() * eps2.to(state.mean_square.dtype)

    def motion(self, state: CyclicalState) -> Tensor:
        """v² over what thermal motion gives (P,), in SGHMC's units: on average 1/(1 − α/2) at best."""
        thermal = state.heat * (1 - self.momentum_decay / 2)
        return state.momentum.square() / self.inverse_scale(state) / thermal.to(state.momentum.dtype)

    def vitals(self, state: CyclicalState) -> Vitals | None:
        """κ, where nothing is injected, and how fast each weight moves; nothing while it explores."""
        if not self.sampled(state):
            return None
        kappa, right = self.kappa(state), 1 / (1 - self.momentum_decay / 2)
        return Vitals(kappa, self.noise_correction * kappa >= 1, self.motion(state), right)

    def cycle_of(self, epochs: int) -> int:  # noqa: ARG002
        """Return L: burn-in and thinning begin anew after a cycle."""
        return self.cycle

    def adaptation_of(self, burn_in: int) -> int:  # noqa: ARG002
        """Return E: the scales adapt while it explores."""
        return self.exploration

    def check(self, settings: SamplingSettings) -> None:
        """Refuse settings without whole cycles, or with draws from outside their sampling stages."""
        if settings.epochs % self.cycle:
            raise SettingsError(f"epochs={settings.epochs} must be a multiple of cycle={self.cycle}")
        if not self.exploration < settings.burn_in <= self.cycle:
            raise SettingsError(
                f"burn_in={settings.burn_in} must end in the sampling stage of a cycle, epochs "
                f"{self.exploration + 1} to {self.cycle}"
            )

    def slower(self) -> CyclicalSGHMC:
        """The same rule with half the step size."""
        return replace(self, step_size=self.step_size / 2)

    @classmethod
    def on(cls, budget: Budget) -> CyclicalSGHMC:
        """Return as many cycles of at least ten epochs as share the draws evenly.

        The cycles are of equal length, so up to (cycles − 1) epochs of the budget are not used.
        """
        draws, epochs = budget.draws_per_chain, budget.epochs
        cycles = max(
            c for c in range(1, draws + 1) if draws % c == 0 and (c == 1 or epochs // c >= SHORTEST_CYCLE)
        )
        cycle = epochs // cycles
        burn_in, _ = kept_epochs(cycle, draws // cycles)
        if burn_in < 2:
            raise SettingsError(
                f"cyclical-sghmc: cycles of {cycle} epochs leave none to explore before {draws // cycles} "
                "draws: run more epochs or ask for fewer draws"
            )
        return cls(cycle, max(1, min(burn_in - 1, int(EXPLORED * cycle))), budget.step_size)

    def schedule(self, epochs: int, draws: int) -> Schedule:
        """As many whole cycles as there are epochs for, with equally many draws in each."""
        cycles = epochs // self.cycle
        if cycles == 0 or draws % cycles:
            raise SettingsError(
                f"draws={draws} a chain must be shared evenly by the {cycles} cycles of {self.cycle} epochs "
                f"that epochs={epochs} gives: change the cycle, the epochs or the draws"
            )
        most = self.cycle - self.exploration
        if draws // cycles > most:
            raise SettingsError(
                f"a cycle that samples for {most} epochs gives no {draws // cycles} draws: explore for fewer "
                "epochs or ask for fewer draws"
            )
        burn_in, thinning = kept_epochs(self.cycle, draws // cycles)
        if burn_in <= self.exploration:  # of a long exploration, all that follows it
            burn_in, thinning = self.cycle - (draws // cycles - 1), 1
        return Schedule(cycles * self.cycle, burn_in, thinning)

    def _squared_step_size(self, position: Tensor) -> Tensor:
        return 0.5 * self.step_size**2 * (torch.cos(position * (math.pi / self.cycle)) + 1)
