r"""SWAG (Maddox et al. 2019): a Gaussian fitted to the way an optimiser goes about its optimum.

Adam runs on the potential (with the prior, so its optimum is the most probable weights); its weights after
each of the last epochs are the iterates :math:`\theta_1, \dots, \theta_K`. With their mean
:math:`\bar\theta`, their variances :math:`\sigma^2` (P,) and the deviations D (R, P) of the last R of them,

.. math::
    \theta = \bar\theta + \frac{s}{\sqrt 2} \Big( \sigma \odot \xi
             + \frac{1}{\sqrt{R - 1}} D^\top \zeta \Big),
    \qquad \xi \sim N(0, I_P), \; \zeta \sim N(0, I_R)

The iterates' spread is set by the learning rate and the batch, not by the posterior, so its scale s is tuned
on held-out inputs: the largest s of a grid whose draws explain them no more than P/(2N) nats an input worse
than the best of the grid do. That is what a draw of a Gaussian posterior may cost, half a nat a weight: where
:math:`\tfrac12 s^2 \mathrm{tr}(H \Sigma) = P/2`, s minimises the divergence of
:math:`N(\bar\theta, s^2 \Sigma)` from :math:`N(\bar\theta, H^{-1})`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import torch
from torch import Tensor

from dissensus.errors import DivergenceError, SettingsError
from dissensus.posterior.budget import Budget
from dissensus.posterior.flat import Layout
from dissensus.posterior.potential import Potential
from dissensus.posterior.priors import GammaHyperprior
from dissensus.posterior.rules.adam import Adam, AdamState
from dissensus.posterior.rules.contract import Drawn, Ending, Rule, Schedule, Weights
from dissensus.schedule import kept_epochs

if TYPE_CHECKING:
    from dissensus.posterior.settings import SamplingSettings

__all__ = ["SWAG", "Moments", "choose_scale"]

TUNING_DRAWS = 8  # whose mean log-likelihood the scale is chosen by


@dataclass(frozen=True)
class SWAG(Rule):
    """Settings of the fit; its step is Adam's."""

    optimiser: Adam = field(default_factory=Adam)
    rank: int = 20
    """R, or fewer if there are fewer iterates."""
    scale: float | None = None
    """s, or ``None`` to tune it, for which the run needs held-out rows."""
    scales: tuple[float, ...] = tuple(2.0 ** (step / 2) for step in range(-10, 5))
    """The grid that s is tuned on: from 1/32 to 4, each √2 times the one before."""

    noisy: ClassVar[bool] = False
    fitted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.rank < 2:
            raise SettingsError(f"SWAG's rank must be at least 2, got {self.rank}")
        if self.scale is not None and not self.scale > 0:
            raise SettingsError(f"SWAG's scale must be above 0, or None to tune it; got {self.scale}")
        if not self.scales or not all(s > 0 for s in self.scales):
            raise SettingsError(f"SWAG's scales must be one or more numbers above 0, got {self.scales}")

    @property
    def step_size(self) -> float:
        """Adam's learning rate."""
        return self.optimiser.learning_rate

    def init(self, weights: Tensor) -> AdamState:
        """The state before the first step, for flat weights (P,)."""
        return self.optimiser.init(weights)

    def step_(
        self,
        state: AdamState,
        weights: Tensor,
        gradient: Tensor,
        noise: Tensor | None = None,  # noqa: ARG002
        adapt: bool = False,  # noqa: ARG002
    ) -> None:
        """One step in place; ``gradient`` (P,) is that of the potential, divided by N."""
        self.optimiser.step_(state, weights, gradient)

    def scale_(
        self,
        state: AdamState,  # noqa: ARG002
        weights: Tensor,
        gradient: Tensor,
        precision: Tensor,
        potential: Potential,
    ) -> None:
        """Turn the gradient, in place, into the potential's, divided by N."""
        potential.full_gradient_(gradient, weights, precision).div_(potential.training_size)

    def precision(
        self,
        state: AdamState,  # noqa: ARG002
        weights: Tensor,
        layout: Layout,
        hyperprior: GammaHyperprior,
        random: np.random.Generator,  # noqa: ARG002
    ) -> Tensor:
        """Return the mean of the prior's precisions, given the weights."""
        return hyperprior.expected(weights.square(), layout)

    def check(self, settings: SamplingSettings) -> None:
        """Refuse settings that keep fewer than two iterates: a variance takes two."""
        if settings.kept_epochs < 2:
            raise SettingsError("SWAG needs at least 2 iterates: lower burn_in or thinning, or run longer")

    @property
    def needs_held_out(self) -> bool:
        """Held-out inputs are needed, to tune the scale."""
        return self.scale is None

    def finish(self, ending: Ending) -> Drawn:
        """Draws of the Gaussian over all parts together, each drawn with what goes with it."""
        names = list(ending.states)
        sizes = [weights.numel() for _, weights in ending.states.values()]
        iterates = [torch.cat([iterate[name] for name in names]) for iterate in ending.kept.values()]
        moments = Moments.of(torch.stack(iterates), self.rank)

        def draw(scale: float, purpose: str, number: int) -> Weights:
            theta = moments.draw(scale, ending.stream(purpose, number))
            return dict(zip(names, theta.split(sizes), strict=True))  # type: ignore[no-untyped-call]

        scale = self.scale
        if scale is None:
            found = {
                s: ending.held_out([draw(s, "tuning", j) for j in range(TUNING_DRAWS)]) for s in self.scales
            }
            scale = choose_scale(found, tolerance=sum(sizes) / (2 * ending.training_size))
        draws = [(ending.epochs, draw(scale, "draw", m)) for m in range(ending.count)]
        return Drawn(draws, {"scale": scale})

    def slower(self) -> SWAG:
        """The same rule with half the learning rate."""
        return replace(self, optimiser=self.optimiser.slower())

    @classmethod
    def on(cls, budget: Budget) -> SWAG:
        """Return the rule with the budget's learning rate."""
        return cls(Adam.on(budget))

    def schedule(self, epochs: int, draws: int) -> Schedule:
        """Keep iterates from the last third of each chain, at most as many as the rank."""
        if epochs < 2:
            raise SettingsError(f"swag needs at least 2 epochs, got {epochs}")
        iterates = min(self.rank, max(2, epochs // 3 + 1))
        return Schedule(epochs, *kept_epochs(epochs, iterates), fitted_draws=draws)


@dataclass(frozen=True)
class Moments:
    """What is kept of the iterates: mean (P,), standard deviation (P,), deviations (R, P)."""

    mean: Tensor
    std: Tensor
    deviations: Tensor

    @classmethod
    def of(cls, iterates: Tensor, rank: int) -> Moments:
        """Fit the Gaussian to iterates (K, P) in the order in which they came, K at least 2."""
        # In float64: the spread is thousands of times smaller than the weights.
        exact = iterates.double()
        mean = exact.mean(0)
        deviations = (exact - mean)[-rank:]
        return cls(mean.float(), exact.std(0).float(), deviations.float())

    def draw(self, scale: float, generator: torch.Generator) -> Tensor:
        """θ (P,) from the Gaussian; the same generator state gives the same ξ and ζ for every scale."""
        xi = torch.randn(self.mean.shape, generator=generator)
        zeta = torch.randn(len(self.deviations), generator=generator)
        low_rank = zeta @ self.deviations / math.sqrt(len(self.deviations) - 1)
        return self.mean + scale / math.sqrt(2) * (self.std * xi + low_rank)


def choose_scale(log_likelihoods: Mapping[float, float], tolerance: float) -> float:
    """The largest scale whose held-out log-likelihood is within ``tolerance`` nats of the best one's.

    >>> choose_scale({0.5: -240.1, 1.0: -240.6, 2.0: -243.0}, tolerance=0.8)
    1.0
    """
    finite = {s: value for s, value in log_likelihoods.items() if math.isfinite(value)}
    if not finite:
        raise DivergenceError(
            "no scale of SWAG's Gaussian gives a finite held-out log-likelihood: lower the learning rate"
        )
    best = max(finite.values())
    return max(scale for scale, value in finite.items() if value >= best - tolerance)
