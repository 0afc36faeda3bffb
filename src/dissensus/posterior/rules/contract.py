r"""What a rule is: how flat weights (P,) move from step to step, and which draws are made of them.

A rule is a frozen dataclass of settings, in a file of its own. It says how its state begins (``init``) and
what one step does (``step_``); everything else has an answer here that is right for a sampler whose draws are
the weights after the epochs that are kept. No other file asks what kind of rule it has before it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self, get_type_hints

import numpy as np
import torch
from torch import Tensor, nn

from dissensus.posterior.budget import Budget
from dissensus.posterior.flat import FlatParameters, Layout
from dissensus.posterior.potential import Potential
from dissensus.posterior.priors import GammaHyperprior
from dissensus.schedule import kept_epochs

if TYPE_CHECKING:
    from dissensus.posterior.settings import SamplingSettings

__all__ = ["Drawn", "Ending", "Perturbation", "Rule", "Schedule", "Vitals", "Weights"]

Weights = Mapping[str, Tensor]
"""Flat weights (P,) of a model's parts, by the part's name."""


class Perturbation(Protocol):
    """Noise that a rule lets a network run with while its gradient is taken."""

    def watch_(self, forward: Callable[[], object]) -> None:
        """Called once before the first step, with a function that runs the model on its first batch."""

    def begin_(self, generator: torch.Generator, batch_size: int) -> None:
        """Called before a forward pass on so many inputs."""

    def end_(self) -> None:
        """Called after the backward pass."""


class Vitals(NamedTuple):
    """What a sampler's state tells of its health."""

    kappa: Tensor
    """(P,): the minibatch's own noise over the most that the dynamics can take."""
    clamped: Tensor
    """(P,): whether no noise is injected into a weight, because the minibatch brings enough."""
    motion: Tensor
    """(P,): squared velocities over their thermal size; their mean is the kinetic temperature."""
    right_temperature: float
    """What the kinetic temperature is for this rule when all is well."""


class Schedule(NamedTuple):
    """How long a chain runs and what is kept of it; see :class:`dissensus.posterior.SamplingSettings`."""

    epochs: int
    burn_in: int
    thinning: int = 1
    fitted_draws: int | None = None


@dataclass(frozen=True)
class Ending:
    """What a chain has come to after its last epoch, for a rule to make draws of."""

    epochs: int
    kept: Mapping[int, Weights]
    """The weights of the parts that are drawn, after each epoch that was kept."""
    states: Mapping[str, tuple[Any, Tensor]]
    """State and weights (P,) of the parts that are drawn."""
    count: int
    """How many draws were asked for, of a posterior that is fitted."""
    training_size: int
    stream: Callable[..., torch.Generator]
    """The chain's own stream of random numbers for a purpose, named by words and numbers."""
    held_out: Callable[[Sequence[Weights]], float]
    """The mean log-likelihood of held-out inputs under some draws, in nats an input."""


@dataclass(frozen=True)
class Drawn:
    """The draws of one chain, each with the epoch it is from, and what was tuned to make them."""

    draws: Sequence[tuple[int, Weights]]
    tuned: Mapping[str, float] = field(default_factory=dict)


class Rule(ABC):
    """How the weights of a model's parts move. Subclasses are frozen dataclasses."""

    noisy: ClassVar[bool] = True
    """Whether a step takes standard normal noise (P,); of such a rule the temperatures are measured."""
    fitted: ClassVar[bool] = False
    """Whether it fits a distribution that as many draws as wanted are made of after the last epoch."""
    optimises: ClassVar[bool] = False
    """Whether it seeks the best weights: then it may move what a model only infers with."""
    keeps: ClassVar[bool] = True
    """Whether :meth:`finish` needs the weights after the epochs that are kept."""
    usual: ClassVar[tuple[int, int]] = (2, 20)
    """How many chains, and draws of all of them, where nobody says. Equally many: each chain gives one."""
    divisible: ClassVar[bool] = True
    """Whether the gradient of a batch may be added up from those of its shares."""

    if TYPE_CHECKING:

        @property
        def step_size(self) -> float:
            """How far it goes in a step, for people to read."""

    # ---- one step

    @abstractmethod
    def init(self, weights: Tensor) -> Any:
        """The state before the first step, a named tuple of tensors, for flat weights (P,)."""

    @abstractmethod
    def step_(self, state: Any, weights: Tensor, gradient: Tensor, noise: Tensor, adapt: bool) -> None:
        """One step in place; ``gradient`` (P,) is what :meth:`scale_` gave, ``noise`` (P,) is N(0, 1)."""

    def scale_(
        self,
        state: Any,  # noqa: ARG002
        weights: Tensor,
        gradient: Tensor,
        precision: Tensor,
        potential: Potential,
    ) -> None:
        """In place: ∇(−Σ_batch objective) (P,) becomes what a step takes, the full potential's gradient."""
        potential.full_gradient_(gradient, weights, precision)

    def perturbation(
        self,
        state: Any,  # noqa: ARG002
        module: nn.Module,  # noqa: ARG002
        parameters: FlatParameters,  # noqa: ARG002
    ) -> Perturbation | None:
        """The noise that the part's forward and backward passes run with, made once for a chain."""
        return None

    # ---- one epoch

    def precision(
        self,
        state: Any,  # noqa: ARG002
        weights: Tensor,
        layout: Layout,
        hyperprior: GammaHyperprior,
        random: np.random.Generator,
    ) -> Tensor | None:
        """The prior's precisions (P,) for the next epoch, a Gibbs step; ``None`` where there is no prior."""
        return hyperprior.resample(weights, layout, random)

    def begin_epoch(self, state: Any, epoch: int, steps: int) -> None:  # noqa: B027
        """Sets what is counted by the epoch (from 1), which has ``steps`` steps."""

    def vitals(self, state: Any) -> Vitals | None:  # noqa: ARG002
        """Return the state's health at an epoch's end; ``None`` for a rule that does not sample then."""
        return None

    # ---- a whole chain

    def cycle_of(self, epochs: int) -> int:
        """After how many epochs burn-in and thinning begin anew; by default they never do."""
        return epochs

    def adaptation_of(self, burn_in: int) -> int:
        """For how many epochs of a cycle the scales adapt, unless the settings say so."""
        return burn_in

    def check(self, settings: SamplingSettings) -> None:  # noqa: B027
        """Refuses settings that cannot work with this rule, by a SettingsError."""

    @property
    def needs_held_out(self) -> bool:
        """Whether :meth:`finish` asks for held-out log-likelihoods."""
        return False

    def finish(self, ending: Ending) -> Drawn:
        """The draws of a chain: by default the weights that were kept, as they are."""
        return Drawn(list(ending.kept.items()))

    @abstractmethod
    def slower(self) -> Self:
        """The same rule with half the step size, for a chain that ran away."""

    # ---- by name

    @classmethod
    @abstractmethod
    def on(cls, budget: Budget) -> Self:
        """Return the rule as it is recommended on a budget."""

    def schedule(self, epochs: int, draws: int) -> Schedule:
        """How a chain of so many epochs gives so many draws: by default in the last third of them."""
        return Schedule(epochs, *kept_epochs(epochs, draws))

    def describe(self) -> dict[str, Any]:
        """Its name and settings as JSON values."""
        return {"name": type(self).__name__, **asdict(self)}  # type: ignore[call-overload]

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """The inverse of :meth:`describe`, without the name."""
        kinds, values = get_type_hints(cls), dict(settings)
        for name, value in values.items():
            if isinstance(value, Mapping) and issubclass(kinds[name], Rule):
                values[name] = kinds[name].from_settings(value)
            elif isinstance(value, list):
                values[name] = tuple(value)
        return cls(**values)
