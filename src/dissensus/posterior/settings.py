"""How weight draws are made: which rule moves which network, for how long, and what is kept."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from dissensus.errors import SettingsError
from dissensus.posterior.adam import Adam
from dissensus.posterior.cyclical import CyclicalSGHMC
from dissensus.posterior.priors import GammaHyperprior
from dissensus.posterior.sghmc import SGHMC
from dissensus.posterior.sgld import SGLD
from dissensus.posterior.swag import SWAG
from dissensus.posterior.variational import Variational

__all__ = ["Rule", "SamplingSettings"]

_SGHMC, _ADAM = SGHMC(), Adam()

Rule = SGHMC | CyclicalSGHMC | SGLD | Adam | SWAG | Variational


@dataclass(frozen=True)
class SamplingSettings:
    """T epochs, of which B are burn-in and every D-th after them gives a draw: (T − B)//D + 1 per chain.

    A cyclical sampler starts over in every cycle: B and D then hold for each. A posterior that is fitted
    (SWAG, variational) gives ``fitted_draws`` draws per chain after the last epoch; the weights that SWAG
    would have kept as draws are its iterates.

    >>> SamplingSettings.variant_1(epochs=10, burn_in=4, thinning=2, chains=3).draws
    12
    """

    decoder: Rule
    encoder: Rule
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
    restarts: int = 6
    """How often a chain that runs away is started again, each time with half the step size, before that is an
    error."""
    fitted_draws: int | None = None
    """Draws per chain of a posterior that is fitted; ``None`` for all others."""

    def __post_init__(self) -> None:
        for name in ("epochs", "burn_in", "thinning", "chains", "batch_size"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1:
                raise SettingsError(f"{name} must be a whole number of at least 1, got {value!r}")
        if not self.temperature > 0:
            raise SettingsError(f"temperature must be above 0, got {self.temperature}")
        if self.adaptation is not None and (not isinstance(self.adaptation, int) or self.adaptation < 0):
            raise SettingsError(f"adaptation must be a whole number of at least 0, got {self.adaptation!r}")
        if not isinstance(self.restarts, int) or self.restarts < 0:
            raise SettingsError(f"restarts must be a whole number of at least 0, got {self.restarts!r}")
        if self.burn_in > self.epochs:
            raise SettingsError(
                f"burn_in={self.burn_in} leaves no draw of epochs={self.epochs}: lower it or run longer"
            )
        self._check_cycles()
        self._check_fit()

    def _check_cycles(self) -> None:
        clocks = [
            (rule.cycle, rule.exploration) if isinstance(rule, CyclicalSGHMC) else None
            for rule in (self.decoder, self.encoder)
        ]
        if clocks[1] is not None and clocks[0] != clocks[1]:
            raise SettingsError("a cyclical encoder needs a decoder of the same cycle and exploration")
        if not isinstance(self.decoder, CyclicalSGHMC):
            return
        if self.epochs % self.decoder.cycle:
            raise SettingsError(f"epochs={self.epochs} must be a multiple of cycle={self.decoder.cycle}")
        if not self.decoder.exploration < self.burn_in <= self.decoder.cycle:
            raise SettingsError(
                f"burn_in={self.burn_in} must end in the sampling stage of a cycle, epochs "
                f"{self.decoder.exploration + 1} to {self.decoder.cycle}"
            )

    def _check_fit(self) -> None:
        encoder, decoder = type(self.encoder), type(self.decoder)
        if encoder not in (decoder, Adam) and (encoder.fitted or decoder.fitted):
            raise SettingsError(
                f"the encoder's {encoder.__name__} and the decoder's {decoder.__name__} give no pairs of "
                "draws: use one rule for both, or Adam for the encoder"
            )
        if not self.decoder.fitted:
            if self.fitted_draws is not None:
                raise SettingsError(f"fitted_draws={self.fitted_draws!r} is for SWAG and Variational alone")
            return
        if not isinstance(self.fitted_draws, int) or self.fitted_draws < 1:
            raise SettingsError(
                f"fitted_draws must be a whole number of at least 1, got {self.fitted_draws!r}"
            )
        if isinstance(self.decoder, SWAG) and self.kept_epochs < 2:
            raise SettingsError("SWAG needs at least 2 iterates: lower burn_in or thinning, or run longer")

    @classmethod
    def variant_1(cls, sampler: Rule = _SGHMC, optimiser: Adam = _ADAM, **rest: Any) -> SamplingSettings:
        """Decoders are sampled, one encoder a chain is optimised (the paper's section 4.1)."""
        return cls(decoder=sampler, encoder=optimiser, **rest)

    @classmethod
    def variant_2(cls, sampler: Rule = _SGHMC, **rest: Any) -> SamplingSettings:
        """Decoders and encoders are sampled in pairs (the paper's section 4.2)."""
        return cls(decoder=sampler, encoder=sampler, **rest)

    @classmethod
    def ensemble(cls, members: int, epochs: int, optimiser: Adam = _ADAM, **rest: Any) -> SamplingSettings:
        """Independently trained VAEs, each kept at its last epoch; one member is plain VAE training."""
        return cls(
            decoder=optimiser, encoder=optimiser, epochs=epochs, burn_in=epochs, chains=members, **rest
        )

    @property
    def draws(self) -> int:
        """M, over all chains."""
        return self.chains * (self.kept_epochs if self.fitted_draws is None else self.fitted_draws)

    @property
    def cycle(self) -> int:
        """How many epochs a cycle has; all of them where there are no cycles."""
        return self.decoder.cycle if isinstance(self.decoder, CyclicalSGHMC) else self.epochs

    @property
    def kept_epochs(self) -> int:
        """How many epochs' weights a chain keeps, as draws or as SWAG's iterates."""
        if isinstance(self.decoder, Variational):
            return 0
        return self.epochs // self.cycle * ((self.cycle - self.burn_in) // self.thinning + 1)

    @property
    def adaptation_epochs(self) -> int:
        """How many epochs of a cycle adapt the sampler's scales."""
        if self.adaptation is not None:
            return self.adaptation
        return self.decoder.exploration if isinstance(self.decoder, CyclicalSGHMC) else self.burn_in

    def adapts(self, epoch: int) -> bool:
        """Whether the scales adapt in this epoch (counted from 1)."""
        return (epoch - 1) % self.cycle < self.adaptation_epochs

    def keeps(self, epoch: int) -> bool:
        """Whether the weights after this epoch (counted from 1) are a draw, or an iterate of SWAG."""
        since = (epoch - 1) % self.cycle + 1 - self.burn_in
        return self.kept_epochs > 0 and since >= 0 and since % self.thinning == 0

    def describe(self) -> dict[str, Any]:
        """Everything above as plain numbers and strings, for records and fingerprints."""
        described = asdict(self)
        for part in ("decoder", "encoder"):
            described[part]["rule"] = type(getattr(self, part)).__name__
        if self.fitted_draws is None:  # no part of what a chain of draws depends on
            del described["fitted_draws"]
        return described

    def slower(self, times: int) -> SamplingSettings:
        """The same settings with the step size halved so many times.

        What is optimised beside a sampler keeps its learning rate: Adam's steps are bounded.
        """
        decoder, encoder = self.decoder, self.encoder
        for _ in range(times):
            decoder = decoder.slower()
            encoder = encoder.slower() if encoder.samples or not decoder.samples else encoder
        return replace(self, decoder=decoder, encoder=encoder)

    def with_(self, **changes: Any) -> SamplingSettings:
        """A copy with some settings changed."""
        return replace(self, **changes)
