"""How weight draws are made: which rule moves which parts of a model, for how long, and what is kept."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from dissensus.errors import SettingsError
from dissensus.posterior.priors import GammaHyperprior
from dissensus.posterior.rules import SGHMC, Adam, Rule, rule_from_description

__all__ = ["SamplingSettings"]

_SGHMC, _ADAM = SGHMC(), Adam()


@dataclass(frozen=True)
class SamplingSettings:
    """T epochs, of which B are burn-in and every D-th after them gives a draw: (T − B)//D + 1 per chain.

    A cyclical sampler starts over in every cycle: B and D then hold for each. A posterior that is fitted
    (SWAG, variational) gives ``fitted_draws`` draws per chain after the last epoch; the weights that SWAG
    would have kept as draws are its iterates.

    >>> SamplingSettings.variant_1(epochs=10, burn_in=4, thinning=2, chains=3).draws
    12
    """

    rule: Rule
    """Of the parts that are drawn."""
    inference: Rule | None
    """Of the parts that a model only infers with, an optimiser; ``None``: they are drawn with the rest."""
    epochs: int
    burn_in: int = 1
    thinning: int = 1
    chains: int = 1
    batch_size: int = 256
    temperature: float = 1.0
    hyperprior: GammaHyperprior = field(default_factory=GammaHyperprior)
    adaptation: int | None = None
    """Epochs in which a sampler adapts its scales; ``None``: the burn-in, or in each cycle the exploration.
    Always adapting is no Markov chain."""
    adaptation_steps: int | None = None
    """The same in steps, whatever the burn-in is: scales adapt in whole epochs until so many steps were taken
    (in a cycle). pybnn's sampler adapts for 3,000 steps unless told otherwise."""
    restarts: int = 6
    """How often a chain that runs away is started again, each time with half the step size, before that is an
    error."""
    fitted_draws: int | None = None
    """Draws per chain of a posterior that is fitted; ``None`` for all others."""
    first_chain: int = 0
    """The number of the first chain. Chains of equal numbers are equal to the bit, whichever run makes them;
    :func:`dissensus.posterior.join_draws` makes one of the draws of several runs."""

    shared_inference: bool = False
    """Whether all chains infer by what the first has learnt, an encoder: they then share one latent space."""

    def __post_init__(self) -> None:
        for name in ("epochs", "burn_in", "thinning", "chains", "batch_size"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1:
                raise SettingsError(f"{name} must be a whole number of at least 1, got {value!r}")
        if not self.temperature > 0:
            raise SettingsError(f"temperature must be above 0, got {self.temperature}")
        for name in ("adaptation", "adaptation_steps"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or value < 0):
                raise SettingsError(f"{name} must be a whole number of at least 0, got {value!r}")
        if self.adaptation is not None and self.adaptation_steps is not None:
            raise SettingsError("adaptation is in epochs and adaptation_steps in steps: give one of them")
        for name in ("restarts", "first_chain"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 0:
                raise SettingsError(f"{name} must be a whole number of at least 0, got {value!r}")
        if self.shared_inference and self.inference is None:
            raise SettingsError(
                "shared_inference=True keeps what infers of the first chain, and inference=None draws it: "
                "give an optimiser such as Adam"
            )
        if self.burn_in > self.epochs:
            raise SettingsError(
                f"burn_in={self.burn_in} leaves no draw of epochs={self.epochs}: lower it or run longer"
            )
        if self.inference is not None and not self.inference.optimises:
            raise SettingsError(
                f"inference={type(self.inference).__name__} gives no single best weights: use an optimiser "
                "such as Adam, or None to draw these parts with the rest"
            )
        self._check_fit()
        self.rule.check(self)

    def _check_fit(self) -> None:
        if not self.rule.fitted:
            if self.fitted_draws is not None:
                raise SettingsError(
                    f"fitted_draws={self.fitted_draws!r} is for posteriors that are fitted, and "
                    f"{type(self.rule).__name__} is sampled: leave it out"
                )
        elif not isinstance(self.fitted_draws, int) or self.fitted_draws < 1:
            raise SettingsError(
                f"fitted_draws must be a whole number of at least 1, got {self.fitted_draws!r}"
            )

    @classmethod
    def variant_1(cls, sampler: Rule = _SGHMC, optimiser: Rule = _ADAM, **rest: Any) -> SamplingSettings:
        """What infers is optimised, one for each chain, and the rest is drawn (the paper's section 4.1)."""
        return cls(rule=sampler, inference=optimiser, **rest)

    @classmethod
    def variant_2(cls, sampler: Rule = _SGHMC, **rest: Any) -> SamplingSettings:
        """Everything is drawn together (the paper's section 4.2)."""
        return cls(rule=sampler, inference=None, **rest)

    @classmethod
    def ensemble(cls, members: int, epochs: int, optimiser: Rule = _ADAM, **rest: Any) -> SamplingSettings:
        """Independently trained models, each kept at its last epoch; one member is plain training."""
        return cls(rule=optimiser, inference=optimiser, epochs=epochs, burn_in=epochs, chains=members, **rest)

    @property
    def draws(self) -> int:
        """How many draws M there are, over all chains."""
        return self.chains * (self.kept_epochs if self.fitted_draws is None else self.fitted_draws)

    @property
    def cycle(self) -> int:
        """How many epochs a cycle has; all of them where there are no cycles."""
        return self.rule.cycle_of(self.epochs)

    @property
    def kept_epochs(self) -> int:
        """How many epochs' weights a chain keeps, as draws or as SWAG's iterates."""
        if not self.rule.keeps:
            return 0
        return self.epochs // self.cycle * ((self.cycle - self.burn_in) // self.thinning + 1)

    def adaptation_epochs(self, steps: int) -> int:
        """How many epochs of a cycle adapt the sampler's scales, where an epoch has so many ``steps``."""
        if self.adaptation_steps is not None:
            return math.ceil(self.adaptation_steps / steps)
        return self.rule.adaptation_of(self.burn_in) if self.adaptation is None else self.adaptation

    @property
    def chain_numbers(self) -> range:
        """Return the numbers of the chains."""
        return range(self.first_chain, self.first_chain + self.chains)

    def rule_of(self, part: str, drawn: Collection[str]) -> Rule:
        """The rule that moves a part, given which parts are drawn."""
        return self.rule if part in drawn or self.inference is None else self.inference

    def adapts(self, epoch: int, steps: int) -> bool:
        """Whether the scales adapt in this epoch (counted from 1), which has so many ``steps``."""
        return (epoch - 1) % self.cycle < self.adaptation_epochs(steps)

    def keeps(self, epoch: int) -> bool:
        """Whether the weights after this epoch (counted from 1) are a draw, or an iterate of SWAG."""
        since = (epoch - 1) % self.cycle + 1 - self.burn_in
        return self.kept_epochs > 0 and since >= 0 and since % self.thinning == 0

    def describe(self) -> dict[str, Any]:
        """Everything above as plain numbers and strings, for records and fingerprints."""
        described = asdict(self)
        described["rule"] = self.rule.describe()
        described["inference"] = None if self.inference is None else self.inference.describe()
        described["hyperprior"] = self.hyperprior.describe()
        for name in ("fitted_draws", "adaptation_steps"):
            if described[name] is None:  # no part of what a chain of draws depends on
                del described[name]
        if not self.shared_inference:
            del described["shared_inference"]
        return described

    @classmethod
    def from_description(cls, described: Mapping[str, Any]) -> SamplingSettings:
        """The inverse of :meth:`describe`, for rules of this package.

        >>> settings = SamplingSettings.variant_1(epochs=3)
        >>> SamplingSettings.from_description(settings.describe()) == settings
        True
        """
        inference = described["inference"]
        return cls(
            **{
                **described,
                "rule": rule_from_description(described["rule"]),
                "inference": None if inference is None else rule_from_description(inference),
                "hyperprior": GammaHyperprior(**described["hyperprior"]),
            }
        )

    def slower(self, times: int) -> SamplingSettings:
        """The same settings with the step size halved so many times.

        What is optimised beside a sampler keeps its learning rate: Adam's steps are bounded.
        """
        rule, inference = self.rule, self.inference
        for _ in range(times):
            both = rule == inference  # as in an ensemble, whose members are optimised as a whole
            rule = rule.slower()
            inference = rule if both else inference
        return replace(self, rule=rule, inference=inference)

    def with_(self, **changes: Any) -> SamplingSettings:
        """A copy with some settings changed."""
        return replace(self, **changes)
