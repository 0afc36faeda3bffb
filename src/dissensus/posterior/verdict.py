r"""Do the chains sample the posterior? Numbers of :mod:`dissensus.posterior.diagnostics` in, words out.

Chains are judged by the epochs after their scales were frozen, by medians over them, part by part.

- One is *hot* where many weights move with more than ``FAR`` times the energy of thermal motion: its steps
  are too long for the noise that the minibatches bring.
- One is *cold* where, for the same reason, most weights hardly move, or where w·∇U/P is below 1/``FAR`` and
  most weights get no noise.
- The others *have not settled* where weights move as they should and the median of w·∇U/P over chains is
  nevertheless far from 1: they are on their way from where they began, were stopped too early, or their steps
  are too short. Half the step size, which cures a hot chain, makes this worse.
- One *drifts* where held-out inputs are much likelier by its last draws than by its first: it has not settled
  either, whatever its temperatures (:mod:`dissensus.posterior.settling`). Where they are much less likely, it
  was thrown out.

Chains that have not merged are no problem of this kind. Each may sample the networks about it well, and the
scores make use of what the chains do not agree on: it is a remark.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from dissensus.posterior.settling import drifts

if TYPE_CHECKING:
    from dissensus.posterior.diagnostics import Diagnostics, SamplerHealth

__all__ = ["FAR", "LEAST_STEPS", "MERGED", "WARM", "Verdict", "judge"]

FAR = 2.0
"""By which factor a temperature may be off. Those of chains on SVHN whose scales adapted too shortly were at
least 2.25 times too high, or negative, and those of good ones at most 1.25 times (docs/how-it-works.md)."""
WARM = 1.25
"""From which factor on it is remarked on."""
HOT_SHARE = 0.05  # of a part's weights, in one bin of κ: a few stray ones are no reason for shorter steps
STILL = 0.5  # a weight with less than this share of thermal motion hardly moves
MOST = 0.9  # of a part's weights: good chains of the committed records inject no noise in up to 42% of them
SHORT_STEPS = 0.02  # κ of most weights below this: steps of twice the length bring no harm
LEAST_STEPS = 200
"""With fixed scales, before a temperature is believed; the default schedule has at least 300."""
LEAST_WEIGHTS = 50
"""Of a part, before a mean over them is believed: in fewer a single one decides."""
MERGED = 1.1
"""R̂ below this: chains cannot be told apart; 1.01 is asked of chains of thousands of draws."""

FAILED = "The draws are not from the posterior"

Fault: TypeAlias = Literal["hot", "cold"]


@dataclass(frozen=True)
class Verdict:
    """Whether the draws can be taken for draws of the posterior, in sentences."""

    judged: bool
    """Whether there was enough to judge by; a posterior that is not sampled is not judged."""
    problems: tuple[str, ...] = ()
    remedy: str | None = None
    remarks: tuple[str, ...] = ()
    """What is worth knowing, and is no reason to fit again."""

    @property
    def sound(self) -> bool:
        """Whether nothing is known to be wrong."""
        return not self.problems

    @property
    def warning(self) -> str | None:
        """Return the problems and the remedy, in words."""
        return None if self.sound else " ".join([*self.problems, *([self.remedy] if self.remedy else [])])

    def to_dict(self) -> dict[str, Any]:
        """JSON values."""
        return {"sound": self.sound, **asdict(self)}


@dataclass(frozen=True)
class _Judged:
    """Of one part of one chain: medians over the epochs with fixed scales."""

    temperature: float
    """Configurational."""
    heats: tuple[float, ...]
    """By bin of κ; 0 where there are no weights."""
    shares: tuple[float, ...]
    clamped: float
    kappa: float

    @classmethod
    def of(cls, epochs: Sequence[SamplerHealth]) -> _Judged:
        def middle(value: Callable[[SamplerHealth], float]) -> float:
            return statistics.median(value(each) for each in epochs)

        bins = range(len(epochs[0].by_kappa))
        weights = sum(each.count for each in epochs[0].by_kappa)
        return cls(
            middle(lambda each: math.inf if math.isnan(t := each.configurational_temperature) else t),
            tuple(middle(lambda each, b=b: each.by_kappa[b].heat or 0.0) for b in bins),  # type: ignore[misc]
            tuple(middle(lambda each, b=b: each.by_kappa[b].count / weights) for b in bins),  # type: ignore[misc]
            middle(lambda each: each.clamped_share),
            middle(lambda each: each.kappa_50),
        )

    @property
    def hot(self) -> tuple[float, float]:
        """The share of the weights in bins that are too hot, and how hot these are on average."""
        found = [(share, heat) for share, heat in zip(self.shares, self.heats, strict=True) if heat > FAR]
        total = sum(share for share, _ in found)
        return total, sum(share * heat for share, heat in found) / total if total else 0.0

    @property
    def still(self) -> float:
        """The share of the weights in bins that hardly move."""
        return sum(share for share, heat in zip(self.shares, self.heats, strict=True) if heat < STILL)

    @property
    def fault(self) -> Fault | None:
        if self.hot[0] >= HOT_SHARE:
            return "hot"
        cold = 0 < self.temperature < 1 / FAR and self.clamped > 0.5
        return "cold" if cold or self.still > MOST else None


def judge(diagnostics: Diagnostics, *, step_size: float | None = None) -> Verdict:
    """What the diagnostics of a run say of it; ``step_size`` is what its chains were asked to have."""
    found, steps = _by_part(diagnostics)
    agreement = _agreement(diagnostics)
    if not found:
        if steps is None:  # nothing was sampled
            return Verdict(False, remarks=agreement)
        why = f"Too short to tell whether the chains sample: after adaptation each made {steps} steps, and "
        why += f"{LEAST_STEPS} are needed."
        if steps >= LEAST_STEPS:
            why = f"Too few weights to tell whether the chains sample: {LEAST_WEIGHTS} of a part are needed."
        return Verdict(False, remarks=(why, *agreement))
    problems: list[str] = []
    remarks: list[str] = []
    causes: dict[str, list[_Judged]] = {}
    for part, judged in found.items():
        for fault in ("hot", "cold"):
            if those := [each for each in judged if each.fault == fault]:
                problems.append(_problem(part, fault, those, len(judged)))
                causes.setdefault(fault, []).extend(those)
        rest = [each for each in judged if each.fault is None]
        middle = statistics.median(each.temperature for each in rest) if rest else 1.0
        if not 1 / FAR <= middle <= FAR:
            problems.append(
                f"{FAILED}: the {part}'s weights have not settled: their configurational temperature is "
                f"{middle:.2g}, right is 1."
            )
            causes.setdefault("unsettled", []).extend(rest)
        else:
            remarks += _remarks(part, rest)
    drifting = drifts(diagnostics.reports)
    chains = sorted({report.chain for report in diagnostics.reports if report.health})
    for cause, changes in _by_direction(drifting).items():
        problems.append(_drift(list(changes.values()), len(chains)))
        own = [part[chains.index(chain)] for part in found.values() for chain in changes]
        causes.setdefault(cause, []).extend(own)
    remedy = _remedy(causes, diagnostics, step_size) if problems else None
    return Verdict(True, tuple(problems), remedy, (*remarks, *agreement))


def _by_direction(changes: Mapping[int, float]) -> dict[str, dict[int, float]]:
    """Chains that are on their way, and chains that were thrown out, as by steps that are too long."""
    up = {chain: change for chain, change in changes.items() if change > 0}
    down = {chain: change for chain, change in changes.items() if change < 0}
    return {cause: own for cause, own in (("unsettled", up), ("hot", down)) if own}


def _drift(changes: Sequence[float], chains: int) -> str:
    where = "" if chains == 1 else f" in {len(changes)} of {chains} chains"
    most = max(changes, key=abs)
    return (
        f"{FAILED}: they drift{where}: from the first of them to the last, held-out inputs become "
        f"{abs(most):.2g} nats {'more' if most > 0 else 'less'} likely."
    )


def _by_part(diagnostics: Diagnostics) -> tuple[dict[str, list[_Judged]], int | None]:
    """The chains of each sampled part, if they are long enough; and the fewest steps with fixed scales."""
    sampled = [report for report in diagnostics.reports if report.health]
    fixed = [report for report in sampled if not report.adapting]
    if not sampled:
        return {}, None
    chains = sorted({report.chain for report in sampled})
    steps = min(sum(report.steps for report in fixed if report.chain == chain) for chain in chains)
    if steps < LEAST_STEPS:
        return {}, steps
    sizes = {part: sum(b.count for b in own.by_kappa) for r in fixed for part, own in r.health.items()}
    parts = sorted(part for part, size in sizes.items() if size >= LEAST_WEIGHTS)
    return {
        part: [
            _Judged.of([r.health[part] for r in fixed if r.chain == chain and part in r.health])
            for chain in chains
        ]
        for part in parts
    }, steps


def _problem(part: str, fault: str, those: Sequence[_Judged], chains: int) -> str:
    where = "" if chains == 1 else f" in {len(those)} of {chains} chains"
    if fault == "hot":
        share, heat = max((each.hot for each in those), key=lambda hot: hot[1])
        what = f"are too hot{where}: {share:.0%} of them move with {heat:.2g} times the right energy"
    elif (still := max(each.still for each in those)) > MOST:
        what = f"are too cold{where}: {still:.0%} of them hardly move"
    else:
        lowest = min(each.temperature for each in those)
        what = f"are too cold{where}: their configurational temperature is {lowest:.2g}, right is 1"
    return f"{FAILED}: the {part}'s weights {what}."


def _remarks(part: str, chains: Sequence[_Judged]) -> list[str]:
    """Of chains without fault, on which one is farthest off."""
    if not chains:
        return []
    worst = max((each.temperature for each in chains), key=lambda t: max(t, 1 / t) if t > 0 else math.inf)
    still = statistics.median(each.still for each in chains)
    said = []
    if not 1 / WARM <= worst <= WARM:
        words = "warmer" if worst > 1 else "colder"
        said.append(
            f"The {part}'s weights are {words} than they should be{_one_of(chains)} (configurational "
            f"temperature {worst:.2f}, right is 1)."
        )
    if still > HOT_SHARE:
        said.append(
            f"{still:.0%} of the {part}'s weights hardly move, so that draws differ less than they should."
        )
    return said


def _one_of(chains: Sequence[_Judged]) -> str:
    off = sum(not 1 / WARM <= each.temperature <= WARM for each in chains)
    return "" if len(chains) == 1 else f" in {off} of {len(chains)} chains"


def _agreement(diagnostics: Diagnostics) -> tuple[str, ...]:
    """How far the chains agree, in words."""
    if not diagnostics.rhat:
        return ()
    rhat = diagnostics.rhat[max(diagnostics.rhat)]
    size = diagnostics.effective_size
    worth = "" if size is None else f" For held-out inputs the draws are worth {size:.0f} independent ones."
    if rhat < MERGED:
        return (f"The chains cannot be told apart (R̂ {rhat:.2f}).{worth}",)
    return (
        f"The chains have not merged (R̂ {rhat:.2f}, merged below {MERGED}): each found networks of its own, "
        f"as is usual, and the scores use what they do not agree on.{worth}",
    )


def _remedy(
    causes: Mapping[str, Sequence[_Judged]], diagnostics: Diagnostics, step_size: float | None
) -> str:
    """What to change, with the values to change it to."""
    epochs = max(report.epoch for report in diagnostics.reports)
    first = diagnostics.reports[0].chain
    adapted = sum(report.adapting for report in diagnostics.reports if report.chain == first)
    if step_size is not None:  # a chain that ran away has a smaller one already
        times = [sum(r.chain == each.chain for r in diagnostics.restarts) for each in diagnostics.restarts]
        step_size /= 2 ** max(times, default=0)
    ways = []
    if "hot" in causes or "cold" in causes:
        ways.append(f"half the step size{_values('step_size', step_size, 0.5)}")
    if "unsettled" in causes:
        ways.append(f"twice the epochs{_values('epochs', epochs, 2)}")
        if not ways[:-1] and all(each.kappa < SHORT_STEPS for each in causes["unsettled"]):
            ways.append(f"twice the step size{_values('step_size', step_size, 2)}")
    longer = max(1, 2 * epochs // 3)
    if adapted < longer // 2:
        ways.append(f"longer adaptation{_values('adaptation', longer, 1)}")
    return f"Fit again with {', or '.join(ways)}."


def _values(name: str, now: float | None, factor: float) -> str:
    """As in `` (step_size=0.005, --step-size 0.005)``; nothing where the present value is not known."""
    if now is None:
        return ""
    return f" ({name}={now * factor:g}, --{name.replace('_', '-')} {now * factor:g})"
