r"""Adam (Kingma and Ba 2015), for what is optimised rather than sampled, on one flat tensor.

.. math::
    m \leftarrow \beta_1 m + (1-\beta_1) G, \quad s \leftarrow \beta_2 s + (1-\beta_2) G^2, \quad
    \theta \leftarrow \theta - \eta \frac{m/(1-\beta_1^t)}{\sqrt{s/(1-\beta_2^t)} + \delta}
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.optim.adam import adam

from dissensus.errors import SettingsError
from dissensus.posterior.budget import Budget
from dissensus.posterior.flat import Layout
from dissensus.posterior.potential import Potential
from dissensus.posterior.priors import GammaHyperprior
from dissensus.posterior.rules.contract import Rule, Schedule

__all__ = ["Adam", "AdamState"]


class AdamState(NamedTuple):
    """What is carried from step to step: moments (P,) and the step count ()."""

    mean_gradient: Tensor
    mean_square: Tensor
    steps: Tensor


@dataclass(frozen=True)
class Adam(Rule):
    """Settings of the optimiser, and its step.

    As a posterior it is a deep ensemble: each chain is a member, whose last weights are its one draw.
    """

    learning_rate: float = 1e-3
    decay: tuple[float, float] = (0.9, 0.999)
    floor: float = 1e-8

    noisy: ClassVar[bool] = False
    optimises: ClassVar[bool] = True
    usual: ClassVar[tuple[int, int]] = (4, 4)

    def __post_init__(self) -> None:
        if not self.learning_rate > 0:
            raise SettingsError(f"Adam's learning_rate must be above 0, got {self.learning_rate}")

    @property
    def step_size(self) -> float:
        """The learning rate, by the name that it has in every rule."""
        return self.learning_rate

    def init(self, weights: Tensor) -> AdamState:
        """The state before the first step, for flat weights (P,)."""
        zero = torch.zeros_like(weights)
        return AdamState(zero, zero.clone(), torch.zeros((), dtype=torch.float32, device=weights.device))

    def step_(
        self,
        state: AdamState,
        weights: Tensor,
        gradient: Tensor,
        noise: Tensor | None = None,  # noqa: ARG002
        adapt: bool = False,  # noqa: ARG002
    ) -> None:
        """One step in place; ``gradient`` (P,) is that of the mean loss of the batch."""
        first, second = self.decay
        adam(
            [weights],
            [gradient],
            [state.mean_gradient],
            [state.mean_square],
            [],
            [state.steps],  # a tensor, so that a captured step goes on counting when it is replayed
            fused=True,  # one pass over the weights instead of ten
            capturable=weights.is_cuda,
            amsgrad=False,
            beta1=first,
            beta2=second,
            lr=self.learning_rate,
            weight_decay=0.0,
            eps=self.floor,
            maximize=False,
        )

    def scale_(
        self,
        state: AdamState,  # noqa: ARG002
        weights: Tensor,  # noqa: ARG002
        gradient: Tensor,
        precision: Tensor,  # noqa: ARG002
        potential: Potential,
    ) -> None:
        """Turn the gradient, in place, into that of the mean loss, without a prior."""
        potential.mean_gradient_(gradient)

    def precision(
        self,
        state: AdamState,
        weights: Tensor,
        layout: Layout,
        hyperprior: GammaHyperprior,
        random: np.random.Generator,
    ) -> None:
        """Return no precision: what is optimised has no prior."""

    def slower(self) -> Adam:
        """The same rule with half the learning rate."""
        return replace(self, learning_rate=self.learning_rate / 2)

    @classmethod
    def on(cls, budget: Budget) -> Adam:
        """Return the rule with the budget's learning rate."""
        return cls(budget.learning_rate)

    def schedule(self, epochs: int, draws: int) -> Schedule:  # noqa: ARG002
        """Keep the last weights of each chain, whatever was asked for: more draws take more chains."""
        return Schedule(epochs, burn_in=epochs)
