"""Every posterior by one word, or as a rule, on one budget: what a benchmark or a detector swaps."""

from __future__ import annotations

from typing import Any

from dissensus.errors import SettingsError
from dissensus.posterior.budget import Budget
from dissensus.posterior.rules import POSTERIORS, Adam, Rule
from dissensus.posterior.settings import SamplingSettings

__all__ = ["posterior_settings"]


def posterior_settings(posterior: str | Rule, *, epochs: int, draws: int, **rest: Any) -> SamplingSettings:
    """Return the settings of a posterior by its name or rule; arguments are those of :class:`Budget`.

    >>> posterior_settings("sgld", epochs=30, draws=20, chains=2).draws
    20
    >>> posterior_settings("ensemble", epochs=30, draws=20, chains=2).draws  # one a member
    2
    """
    if isinstance(posterior, str) and posterior not in POSTERIORS:
        raise SettingsError(f"posterior={posterior!r} is not known: choose one of {', '.join(POSTERIORS)}")
    budget = Budget(epochs=epochs, draws=draws, **rest)
    rule = POSTERIORS[posterior].on(budget) if isinstance(posterior, str) else posterior
    if budget.adaptation is not None and not rule.noisy:
        raise SettingsError(
            f"posterior={posterior!r} is no sampler and has no scales to adapt: leave adaptation out"
        )
    return SamplingSettings(
        rule,
        Adam.on(budget) if budget.variant == 1 else None,
        chains=budget.chains,
        batch_size=budget.batch_size,
        temperature=budget.temperature,
        adaptation=budget.adaptation,
        **rule.schedule(budget.epochs, budget.draws_per_chain)._asdict(),
    )
