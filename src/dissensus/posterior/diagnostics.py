r"""Is the chain sampling? Numbers that tell, taken once an epoch.

- :math:`\kappa = \varepsilon^2 \sqrt{V} / (2 \alpha)`: above 1 the minibatch alone brings more noise than the
  dynamics can take; no noise is injected there and the coordinate runs hot by about κ. SGLD: h√V/2.
- kinetic temperature, the mean of v²/(ε²m): 1/(1 − α/2) when all is well, not 1. SGLD: of (Δθ)²/(2hm), and 1
  when all is well. Each rule says which is right for it.
- configurational temperature, the mean of w·∇U/P: the run's own measure of T; 1 when all is well (∇U is that
  of the tempered potential).
- R̂ between chains of the log-likelihoods of held-out inputs (rank-normalised and folded, Vehtari et al.
  2021): 1 when the chains cannot be told apart. One chain has none: nobody knows what others would find.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from torch import Tensor

from dissensus.posterior.part import Part

__all__ = ["MERGED", "Diagnostics", "EpochReport", "Restart", "SamplerHealth", "sampler_health"]


MERGED = 1.1
"""R̂ below this: chains cannot be told apart; 1.01 is asked of chains of thousands of draws."""


@dataclass(frozen=True)
class SamplerHealth:
    """Of one sampled part of one chain at the end of one epoch."""

    kappa_05: float
    kappa_50: float
    kappa_95: float
    clamped_share: float
    kinetic_temperature: float
    configurational_temperature: float
    right_temperature: float
    """What the kinetic temperature is for the part's rule when all is well."""


@dataclass(frozen=True)
class EpochReport:
    """What one chain did in one epoch (counted from 1)."""

    chain: int
    epoch: int
    training_elbo: float
    held_out_log_likelihood: float | None
    seconds: float
    health: Mapping[str, SamplerHealth] = field(default_factory=dict)
    """By part, for those that are sampled."""

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
    """Those it was started again with, by part."""

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
    tuned: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    """What a fit chose for itself, by chain and name, such as the scale of SWAG's Gaussian."""
    restarts: tuple[Restart, ...] = ()
    """The chains that ran away, in the order in which they did; the reports are those of their last start."""

    def health(self) -> dict[str, Any]:
        """A few plain numbers: of each part that is sampled medians over chains after the last epoch.

        Beside them the last R̂, below which value chains count as merged, and what was started again, in
        words.
        """
        end = max((report.epoch for report in self.reports), default=0)
        last = [asdict(report)["health"] for report in self.reports if report.epoch == end]
        names = sorted({name for health in last for name in health})
        every = {name: [health[name] for health in last if name in health] for name in names}
        return {
            "networks": {
                name: {number: statistics.median(one[number] for one in found) for number in found[0]}
                for name, found in every.items()
            },
            "rhat": self.rhat[max(self.rhat)] if self.rhat else None,
            "merged_below": MERGED,
            "restarts": [str(restart) for restart in self.restarts],
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        return {
            "reports": [report.to_dict() for report in self.reports],
            "rhat": {str(epoch): value for epoch, value in self.rhat.items()},
            "tuned": {str(chain): dict(found) for chain, found in self.tuned.items()},
            "restarts": [restart.to_dict() for restart in self.restarts],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Diagnostics:
        """The inverse of :meth:`to_dict`."""
        reports = tuple(EpochReport.from_dict(report) for report in data["reports"])
        rhat = {int(epoch): value for epoch, value in data["rhat"].items()}
        tuned = {int(chain): dict(found) for chain, found in data["tuned"].items()}
        restarts = tuple(Restart.from_dict(restart) for restart in data["restarts"])
        return cls(reports, rhat, tuned, restarts)


def sampler_health(part: Part, steps: int) -> SamplerHealth | None:
    """The health of a part after an epoch of ``steps`` steps; ``None`` for what is not sampled."""
    vitals = part.rule.vitals(part.state) if part.weights.numel() else None
    if vitals is None:
        return None
    low, middle, high = _quantiles(vitals.kappa, (0.05, 0.5, 0.95))
    return SamplerHealth(
        low,
        middle,
        high,
        clamped_share=float(vitals.clamped.double().mean()),
        kinetic_temperature=float(vitals.kinetic_temperature),
        configurational_temperature=float(part.virial) / steps,
        right_temperature=vitals.right_temperature,
    )


def _quantiles(values: Tensor, shares: Sequence[float]) -> list[float]:
    """Of values (P,), each the one at its place in order; torch's own function refuses more than 2^24."""
    places = [int(share * (len(values) - 1)) for share in shares]
    # On a CPU, to sort them all takes as long as a training step.
    ordered = np.partition(values.numpy(), places) if values.device.type == "cpu" else values.sort().values
    return [float(ordered[place]) for place in places]
