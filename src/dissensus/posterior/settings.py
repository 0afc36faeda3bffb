"""How weight draws are made: which rule moves which network, for how long, and what is kept."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from dissensus.errors import SettingsError
from dissensus.posterior.adam import Adam
from dissensus.posterior.priors import GammaHyperprior
from dissensus.posterior.sghmc import SGHMC

__all__ = ["Rule", "SamplingSettings"]

_SGHMC, _ADAM = SGHMC(), Adam()

Rule = SGHMC | Adam


@dataclass(frozen=True)
class SamplingSettings:
    """T epochs, of which B are burn-in and every D-th after them gives a draw: (T − B)//D + 1 per chain.

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
    """Epochs in which SGHMC adapts its scales; ``None``: the burn-in. Always adapting is no Markov chain."""

    def __post_init__(self) -> None:
        for name in ("epochs", "burn_in", "thinning", "chains", "batch_size"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1:
                raise SettingsError(f"{name} must be a whole number of at least 1, got {value!r}")
        if not self.temperature > 0:
            raise SettingsError(f"temperature must be above 0, got {self.temperature}")
        if self.adaptation is not None and (not isinstance(self.adaptation, int) or self.adaptation < 0):
            raise SettingsError(f"adaptation must be a whole number of at least 0, got {self.adaptation!r}")
        if self.burn_in > self.epochs:
            raise SettingsError(
                f"burn_in={self.burn_in} leaves no draw of epochs={self.epochs}: lower it or run longer"
            )

    @classmethod
    def variant_1(cls, sampler: SGHMC = _SGHMC, optimiser: Adam = _ADAM, **rest: Any) -> SamplingSettings:
        """Decoders are sampled, one encoder a chain is optimised (the paper's section 4.1)."""
        return cls(decoder=sampler, encoder=optimiser, **rest)

    @classmethod
    def variant_2(cls, sampler: SGHMC = _SGHMC, **rest: Any) -> SamplingSettings:
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
        return self.chains * ((self.epochs - self.burn_in) // self.thinning + 1)

    @property
    def adaptation_epochs(self) -> int:
        """How many epochs adapt the sampler's scales."""
        return self.burn_in if self.adaptation is None else self.adaptation

    def keeps(self, epoch: int) -> bool:
        """Whether the weights after this epoch (counted from 1) are a draw."""
        return epoch >= self.burn_in and (epoch - self.burn_in) % self.thinning == 0

    def describe(self) -> dict[str, Any]:
        """Everything above as plain numbers and strings, for records and fingerprints."""
        described = asdict(self)
        for part in ("decoder", "encoder"):
            described[part]["rule"] = type(getattr(self, part)).__name__
        return described

    def with_(self, **changes: Any) -> SamplingSettings:
        """A copy with some settings changed."""
        return replace(self, **changes)
