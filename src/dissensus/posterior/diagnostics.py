r"""Is the chain sampling? Numbers that tell, taken once an epoch.

- :math:`\kappa = \varepsilon^2 \sqrt{V} / (2 \alpha)`: above 1 the minibatch alone brings more noise than the
  dynamics can take; no noise is injected there and the coordinate runs hot by about κ. SGLD: h√V/2.
- kinetic temperature, the mean of v²/(ε²m): 1/(1 − α/2) when all is well, not 1. SGLD: of (Δθ)²/(2hm).
- configurational temperature, the mean of w·∇U/P: the run's own measure of T; 1 when all is well (∇U is that
  of the tempered potential).
- R̂ between chains of the log-likelihoods of held-out inputs (split R̂, Gelman et al. 2013): 1 when the chains
  cannot be told apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from dissensus.posterior.cyclical import CyclicalSGHMC
from dissensus.posterior.part import Part
from dissensus.posterior.sghmc import SGHMC
from dissensus.posterior.sgld import SGLD

__all__ = ["Diagnostics", "EpochReport", "Restart", "SamplerHealth", "sampler_health", "split_rhat"]


@dataclass(frozen=True)
class SamplerHealth:
    """Of one sampled network of one chain at the end of one epoch."""

    kappa_05: float
    kappa_50: float
    kappa_95: float
    clamped_share: float
    kinetic_temperature: float
    configurational_temperature: float


@dataclass(frozen=True)
class EpochReport:
    """What one chain did in one epoch (counted from 1)."""

    chain: int
    epoch: int
    training_elbo: float
    held_out_log_likelihood: float | None
    seconds: float
    health: Mapping[str, SamplerHealth] = field(default_factory=dict)
    """By network name, for those that are sampled."""

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> EpochReport:
        """The inverse of :meth:`to_dict`."""
        health = {name: SamplerHealth(**h) for name, h in data["health"].items()}
        return cls(**{**data, "health": health})


@dataclass(frozen=True)
class Restart:
    """A chain that ran away and was started again with smaller steps."""

    chain: int
    epoch: int
    """In which it ran away, counted from 1."""
    reason: str
    step_sizes: Mapping[str, float]
    """Those it was started again with, by network."""

    def __str__(self) -> str:
        sizes = ", ".join(f"{name} {size:g}" for name, size in self.step_sizes.items())
        return f"chain {self.chain} {self.reason}; it was started again with half the step size (now {sizes})"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, and the sentence for people who read them there."""
        return {**asdict(self), "sentence": str(self)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Restart:
        """The inverse of :meth:`to_dict`."""
        return cls(data["chain"], data["epoch"], data["reason"], data["step_sizes"])


@dataclass(frozen=True)
class Diagnostics:
    """The reports of a run, R̂ between its chains after each epoch, and what was tuned."""

    reports: tuple[EpochReport, ...] = ()
    rhat: Mapping[int, float] = field(default_factory=dict)
    """Median over held-out inputs, by epoch, from the first epoch that allows it."""
    swag_scale: Mapping[int, float] = field(default_factory=dict)
    """The scale of SWAG's Gaussian that held-out inputs chose, by chain."""
    restarts: tuple[Restart, ...] = ()
    """The chains that ran away, in the order in which they did; the reports are those of their last start."""

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        return {
            "reports": [report.to_dict() for report in self.reports],
            "rhat": {str(epoch): value for epoch, value in self.rhat.items()},
            **({"swag_scale": {str(c): s for c, s in self.swag_scale.items()}} if self.swag_scale else {}),
            **({"restarts": [restart.to_dict() for restart in self.restarts]} if self.restarts else {}),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Diagnostics:
        """The inverse of :meth:`to_dict`."""
        reports = tuple(EpochReport.from_dict(report) for report in data["reports"])
        rhat = {int(epoch): value for epoch, value in data["rhat"].items()}
        scales = {int(chain): scale for chain, scale in data.get("swag_scale", {}).items()}
        restarts = tuple(Restart.from_dict(restart) for restart in data.get("restarts", ()))
        return cls(reports, rhat, scales, restarts)


def sampler_health(part: Part, steps: int) -> SamplerHealth | None:
    """The health of a network after an epoch of ``steps`` steps; ``None`` for what is not sampled."""
    rule, state = part.rule, part.state
    if not isinstance(rule, SGHMC | CyclicalSGHMC | SGLD) or not part.weights.numel():
        return None
    if isinstance(rule, CyclicalSGHMC) and not rule.sampled(state):
        return None
    kappa = rule.kappa(state)
    low, middle, high = _quantiles(kappa, (0.05, 0.5, 0.95))
    return SamplerHealth(
        low,
        middle,
        high,
        clamped_share=float((rule.noise_correction * kappa >= 1).double().mean()),
        kinetic_temperature=float(rule.kinetic_temperature(state)),
        configurational_temperature=float(part.virial) / steps,
    )


def _quantiles(values: Tensor, shares: Sequence[float]) -> list[float]:
    """Of values (P,), each the one at its place in order; torch's own function refuses more than 2^24."""
    places = [int(share * (len(values) - 1)) for share in shares]
    # On a CPU, to sort them all takes as long as a training step.
    ordered = np.partition(values.numpy(), places) if values.device.type == "cpu" else values.sort().values
    return [float(ordered[place]) for place in places]


def split_rhat(series: NDArray[np.float64]) -> NDArray[np.float64]:
    """Split R̂ (...) of series (C, n, ...) along the second axis: each chain is halved, halves are compared.

    >>> steady = np.random.default_rng(0).normal(size=(4, 100))
    >>> bool(split_rhat(steady) < 1.05), bool(split_rhat(steady + np.arange(4)[:, None]) > 1.5)
    (True, True)
    """
    half = series.shape[1] // 2
    if half < 2:
        raise ValueError(f"split R̂ needs at least 4 values a chain, got {series.shape[1]}")
    halves = np.concatenate([series[:, :half], series[:, -half:]])
    within = halves.var(axis=1, ddof=1).mean(axis=0)
    between = halves.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        rhat = np.sqrt((half - 1) / half + between / within)
    # Values that never move, equal in all chains, agree perfectly.
    return np.where((within == 0) & (between == 0), 1.0, rhat)
