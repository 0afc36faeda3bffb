r"""Is the chain sampling? Numbers that tell, taken once an epoch.

- :math:`\kappa = \varepsilon^2 \sqrt{V} / (2 \alpha)`: above 1 the minibatch alone brings more noise than the
  dynamics can take; no noise is injected there and the coordinate runs hot by about κ. SGLD: h√V/2.
- kinetic temperature, the mean of v²/(ε²m): 1/(1 − α/2) when all is well, not 1. SGLD: of (Δθ)²/(2hm), and 1
  when all is well. Each rule says which is right for it. A mean over all weights hides hot ones beside cold
  ones, so it is also taken over those of small and of large κ.
- configurational temperature, the mean of w·∇U/P: the run's own measure of T; 1 when all is well (∇U is that
  of the tempered potential).
- R̂ between chains of the log-likelihoods of held-out inputs (rank-normalised and folded, Vehtari et al.
  2021): 1 when the chains cannot be told apart. Beside it their effective sample size: how many independent
  draws they are worth. One chain has neither: nobody knows what others would find.

What they add up to is said by :mod:`dissensus.posterior.verdict`.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dissensus.posterior.part import Part
from dissensus.posterior.rules import Vitals
from dissensus.posterior.verdict import MERGED, Verdict, judge

__all__ = [
    "KAPPA_EDGES",
    "Diagnostics",
    "EpochReport",
    "KappaBin",
    "Restart",
    "SamplerHealth",
    "sampler_health",
]


KAPPA_EDGES = (0.1, 0.5, 1.0)
"""Between the bins of κ: little noise of the minibatch's own, some, much, and more than may be."""


@dataclass(frozen=True)
class KappaBin:
    """The weights whose κ lies between two edges."""

    count: int
    heat: float | None
    """Their kinetic temperature over the right one: 1 when all is well; ``None`` where there are none."""


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
    by_kappa: tuple[KappaBin, ...]
    """From small to large κ, parted at KAPPA_EDGES."""

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SamplerHealth:
        """The inverse of :func:`dataclasses.asdict`."""
        return cls(**{**data, "by_kappa": tuple(KappaBin(**each) for each in data["by_kappa"])})


@dataclass(frozen=True)
class EpochReport:
    """What one chain did in one epoch (counted from 1)."""

    chain: int
    epoch: int
    training_elbo: float
    held_out_log_likelihood: float | None
    seconds: float
    steps: int
    adapting: bool
    """Whether the sampler's scales still followed the gradients."""
    health: Mapping[str, SamplerHealth] = field(default_factory=dict)
    """By part, for those that are sampled."""
    drawn: bool = False
    """Whether its weights are a draw."""

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> EpochReport:
        """The inverse of :meth:`to_dict`."""
        health = {name: SamplerHealth.from_dict(h) for name, h in data["health"].items()}
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
    """The reports of a run, how far its chains agree after each epoch, and what was tuned."""

    reports: tuple[EpochReport, ...] = ()
    rhat: Mapping[int, float] = field(default_factory=dict)
    """Median over held-out inputs, by epoch, from the first epoch that allows it."""
    effective_size: float | None = None
    """How many independent draws all that were kept are worth: the median over held-out inputs, as R̂."""
    tuned: Mapping[int, Mapping[str, float]] = field(default_factory=dict)
    """What a fit chose for itself, by chain and name, such as the scale of SWAG's Gaussian."""
    restarts: tuple[Restart, ...] = ()
    """The chains that ran away, in the order in which they did; the reports are those of their last start."""

    def verdict(self, *, step_size: float | None = None) -> Verdict:
        """Whether the chains sample, in words; ``step_size`` is what they were asked to have."""
        return judge(self, step_size=step_size)

    def health(self, *, step_size: float | None = None) -> dict[str, Any]:
        """A few plain numbers: of each part that is sampled medians over chains after the last epoch.

        Beside them the last R̂ and effective sample size, below which R̂ chains count as merged, what was
        started again, in words, and the verdict.
        """
        end = max((report.epoch for report in self.reports), default=0)
        last = [asdict(report)["health"] for report in self.reports if report.epoch == end]
        names = sorted({name for health in last for name in health})
        every = {name: [health[name] for health in last if name in health] for name in names}
        return {
            "networks": {name: _middle(found) for name, found in every.items()},
            "rhat": self.rhat[max(self.rhat)] if self.rhat else None,
            "effective_size": self.effective_size,
            "merged_below": MERGED,
            "restarts": [str(restart) for restart in self.restarts],
            "verdict": self.verdict(step_size=step_size).to_dict(),
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers for JSON."""
        return {
            "reports": [report.to_dict() for report in self.reports],
            "rhat": {str(epoch): value for epoch, value in self.rhat.items()},
            "effective_size": self.effective_size,
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
        return cls(reports, rhat, data["effective_size"], tuned, restarts)


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
        kinetic_temperature=float(vitals.motion.mean(dtype=torch.float64)),
        configurational_temperature=float(part.virial) / steps,
        right_temperature=vitals.right_temperature,
        by_kappa=_by_kappa(vitals),
    )


def _by_kappa(vitals: Vitals) -> tuple[KappaBin, ...]:
    """How many weights there are in each bin of κ, and how hot they are."""
    above = [vitals.kappa >= edge for edge in KAPPA_EDGES]  # torch.bucketize takes twice as long
    bins = [~above[0], *(low & ~high for low, high in itertools.pairwise(above)), above[-1]]
    counts = torch.stack([here.sum() for here in bins]).tolist()
    # Sums of where(…): counting by weights is another number each time on a GPU.
    sums = [torch.where(here, vitals.motion, 0).sum(dtype=torch.float64) for here in bins]
    return tuple(
        KappaBin(count, total / count / vitals.right_temperature if count else None)
        for count, total in zip(counts, torch.stack(sums).tolist(), strict=True)
    )


def _middle(found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Medians over chains of one part's numbers; of its bins, all their weights and the median heat."""
    middle: dict[str, Any] = {
        number: statistics.median(one[number] for one in found) for number in found[0] if number != "by_kappa"
    }
    middle["by_kappa"] = []
    total = sum(each["count"] for one in found for each in one["by_kappa"])
    bins = zip(*(one["by_kappa"] for one in found), strict=True)
    for low, high, same in zip((0.0, *KAPPA_EDGES), (*KAPPA_EDGES, None), bins, strict=True):
        heats = [each["heat"] for each in same if each["heat"] is not None]
        middle["by_kappa"].append(
            {
                "from": low,
                "to": high,
                "share": sum(each["count"] for each in same) / total,
                "heat": statistics.median(heats) if heats else None,
            }
        )
    return middle


def _quantiles(values: Tensor, shares: Sequence[float]) -> list[float]:
    """Of values (P,), each the one at its place in order; torch's own function refuses more than 2^24."""
    places = [int(share * (len(values) - 1)) for share in shares]
    # On a CPU, to sort them all takes as long as a training step.
    ordered = np.partition(values.numpy(), places) if values.device.type == "cpu" else values.sort().values
    return [float(ordered[place]) for place in places]
