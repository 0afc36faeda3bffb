"""Every posterior by one word, on one budget: what a benchmark or a detector swaps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from dissensus.errors import SettingsError
from dissensus.posterior.adam import Adam
from dissensus.posterior.cyclical import CyclicalSGHMC
from dissensus.posterior.settings import Rule, SamplingSettings
from dissensus.posterior.sghmc import SGHMC
from dissensus.posterior.sgld import SGLD
from dissensus.posterior.swag import SWAG
from dissensus.posterior.variational import Variational
from dissensus.schedule import kept_epochs

__all__ = ["POSTERIORS", "Budget", "posterior_settings"]

MOMENTUM_DECAY = SGHMC().momentum_decay
SHORTEST_CYCLE = 10  # epochs: a chain that starts over sooner has not arrived anywhere
EXPLORED = 0.6  # share of a cycle that explores; the draws come from its last third


@dataclass(frozen=True)
class Budget:
    """What a posterior may spend: ``chains`` · ``epochs`` passes over the data, whichever posterior it is.

    ``step_size`` is SGHMC's ε; the other samplers take the one that drifts as fast. ``learning_rate`` is
    Adam's, wherever something is optimised or fitted.
    """

    epochs: int
    draws: int
    """M, over all chains; a multiple of them."""
    chains: int = 1
    variant: int = 1
    """1: one encoder a chain, by Adam; 2: encoders are drawn with their decoders."""
    batch_size: int = 256
    step_size: float = 1e-2
    learning_rate: float = 1e-3
    temperature: float = 1.0

    def __post_init__(self) -> None:
        if self.variant not in (1, 2):
            raise SettingsError(f"variant must be 1 or 2, got {self.variant!r}")
        if self.chains < 1 or self.draws < 1 or self.draws % self.chains:
            raise SettingsError(f"draws={self.draws} must be a multiple of chains={self.chains}")

    @property
    def draws_per_chain(self) -> int:
        """M/C."""
        return self.draws // self.chains

    @property
    def adam(self) -> Adam:
        """The optimiser."""
        return Adam(self.learning_rate)

    def settings(self, rule: Rule, **rest: Any) -> SamplingSettings:
        """The settings with this rule for what is drawn."""
        return SamplingSettings(
            **{
                "decoder": rule,
                "encoder": self.adam if self.variant == 1 else rule,
                "epochs": self.epochs,
                "chains": self.chains,
                "batch_size": self.batch_size,
                "temperature": self.temperature,
                **rest,
            }
        )


def _sampler(rule: Rule, budget: Budget) -> SamplingSettings:
    burn_in, thinning = kept_epochs(budget.epochs, budget.draws_per_chain)
    return budget.settings(rule, burn_in=burn_in, thinning=thinning)


def _sghmc(budget: Budget) -> SamplingSettings:
    """Scale-adapted SGHMC; draws from the last third of each chain."""
    return _sampler(SGHMC(budget.step_size), budget)


def _sgld(budget: Budget) -> SamplingSettings:
    """SGLD with SGHMC's preconditioner and drift."""
    return _sampler(SGLD(budget.step_size**2 / MOMENTUM_DECAY), budget)


def _cyclical(budget: Budget) -> SamplingSettings:
    """Cyclical SGHMC: as many cycles of at least ten epochs as share the draws evenly.

    The cycles are of equal length, so up to (cycles − 1) epochs of the budget are not used.
    """
    draws, epochs = budget.draws_per_chain, budget.epochs
    cycles = max(
        c for c in range(1, draws + 1) if draws % c == 0 and (c == 1 or epochs // c >= SHORTEST_CYCLE)
    )
    cycle = epochs // cycles
    burn_in, thinning = kept_epochs(cycle, draws // cycles)
    if burn_in < 2:
        raise SettingsError(
            f"cyclical-sghmc: cycles of {cycle} epochs leave none to explore before {draws // cycles} draws: "
            "run more epochs or ask for fewer draws"
        )
    exploration = max(1, min(burn_in - 1, int(EXPLORED * cycle)))
    rule = CyclicalSGHMC(cycle, exploration, budget.step_size, MOMENTUM_DECAY)
    return budget.settings(rule, epochs=cycles * cycle, burn_in=burn_in, thinning=thinning)


def _ensemble(budget: Budget) -> SamplingSettings:
    """A deep ensemble: each chain is a member, trained by Adam, and its last weights are its one draw.

    More draws would take more training: ask for more chains.
    """
    return SamplingSettings.ensemble(
        budget.chains,
        budget.epochs,
        budget.adam,
        batch_size=budget.batch_size,
        temperature=budget.temperature,
    )


def _swag(budget: Budget) -> SamplingSettings:
    """SWAG on iterates from the last third of each chain, at most as many as its rank."""
    rule = SWAG(budget.adam)
    if budget.epochs < 2:
        raise SettingsError(f"swag needs at least 2 epochs, got {budget.epochs}")
    burn_in, thinning = kept_epochs(budget.epochs, min(rule.rank, max(2, budget.epochs // 3 + 1)))
    return budget.settings(rule, burn_in=burn_in, thinning=thinning, fitted_draws=budget.draws_per_chain)


def _variational(budget: Budget) -> SamplingSettings:
    """Mean-field variational inference."""
    return budget.settings(
        Variational(budget.adam), burn_in=budget.epochs, fitted_draws=budget.draws_per_chain
    )


POSTERIORS: Mapping[str, Callable[[Budget], SamplingSettings]] = MappingProxyType(
    {
        "sghmc": _sghmc,
        "cyclical-sghmc": _cyclical,
        "sgld": _sgld,
        "ensemble": _ensemble,
        "swag": _swag,
        "variational": _variational,
    }
)
"""Every posterior, by name."""


def posterior_settings(name: str, *, epochs: int, draws: int, **rest: Any) -> SamplingSettings:
    """The settings of the posterior of that name; the arguments are those of :class:`Budget`.

    >>> posterior_settings("sgld", epochs=30, draws=20, chains=2).draws
    20
    >>> posterior_settings("ensemble", epochs=30, draws=20, chains=2).draws  # one a member
    2
    """
    if name not in POSTERIORS:
        raise SettingsError(f"posterior={name!r} is not known: choose one of {', '.join(POSTERIORS)}")
    return POSTERIORS[name](Budget(epochs=epochs, draws=draws, **rest))
