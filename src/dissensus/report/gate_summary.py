"""From what a gate said about a set of inputs to sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dissensus.inputs import SPECTRUM, SURROUNDINGS
from dissensus.scores import SCORES, score

if TYPE_CHECKING:
    from dissensus.explain import Standing
    from dissensus.inspection import Assessment, Case

__all__ = ["MEANINGS", "case_sentences", "gate_summary", "label", "share"]

EXTREME = 95.0  # a percentile worth a remark
UNUSUAL = 3.0  # nats: 1 of 20 normal inputs is as far out
NAMED = 3  # parts of a score that a sentence names
MEANINGS = {
    **{name: score(name).description for name in SCORES},
    "corrected-ll": "how far the draws fall short of a perfect model",
    "latent-norm": "how far from the centre it is encoded",
    "latent-scale": "how uncertain its encoding is",
    "latent-spread": "how far the draws’ encodings of it lie apart",
    "reconstruction": "how far the draws’ reconstructions are from it",
    "reconstruction-spread": "how far the draws’ reconstructions lie apart",
    "pixel-variance": "how far the draws disagree, pixel by pixel or column by column",
    "code-length": "how many bits a lossless coder needs for it",
    "predicted-length": "how badly each of its pixels is foretold by those next to it",
    **SPECTRUM,
    **SURROUNDINGS,
}


def gate_summary(assessment: Assessment) -> list[str]:
    """What the numbers say, the verdict first."""
    return [
        _verdict(assessment),
        assessment.exchangeability.sentence,
        *_strangest(assessment),
        *_drift(assessment),
        *_unreadable(assessment),
        *_impossible(assessment),
    ]


def case_sentences(case: Case) -> list[str]:
    """What there is to say about one input besides its pictures."""
    score, p_value, flagged = case.explanation.decision
    return [
        f"{'Flagged' if flagged else 'Not flagged'}: score {score:.3g}, p-value {p_value:.2g}.",
        *(f"No training input had this: {note}." for note in case.explanation.notes),
        *(_carried(case.explanation.surprises) or _remark(case.explanation.statistics)),
    ]


def label(name: str | int) -> str:
    """An input's name for people: rows are counted from 0, as they are in the output of ``score``."""
    return f"row {name}" if isinstance(name, int) else name


def share(value: float) -> str:
    """A share in per cent, with as many digits as it needs.

    >>> share(0.5), share(0.049), share(0.00026), share(0.0)
    ('50%', '4.9%', '0.026%', '0%')
    """
    percent = 100 * value
    return f"{percent:.0f}%" if percent >= 10 or percent == 0 else f"{percent:.2g}%"


def _verdict(a: Assessment) -> str:
    flagged, (low, high) = int(a.flagged.sum()), a.expected
    inputs = "1 input was" if len(a) == 1 else f"{len(a):,} inputs were"
    found = f"{flagged:,} of {inputs} flagged ({share(flagged / len(a))})"
    expected = f"of as many inputs like the training data {low:,} to {high:,} would be"
    if not a.passed():
        often = "less than 0.01%" if a.chance < 1e-4 else share(a.chance)
        return f"{found}; {expected}. So many happen by chance in {often} of cases: something is different."
    if flagged > high:
        return f"{found}; {expected}. That is many, but chance can explain it."
    return f"{found}; {expected}. That is what chance explains."


def _strangest(a: Assessment) -> list[str]:
    if not a.unusual:
        return []
    case = a.unusual[0]
    n, p = len(a.calibration_scores), case.explanation.decision.p_value
    above = round(p * (n + 1)) - 1
    beaten = "none" if above == 0 else f"{above:,}"
    return [f"The most unusual is {label(case.name)}: {beaten} of {n:,} calibration inputs score as high."]


def _drift(a: Assessment) -> list[str]:
    if a.drift_alarm is None:
        return ["The order of the inputs shows no drift."] if len(a) > 1 else []
    return [
        f"The inputs change along the way: by input {a.drift_alarm + 1:,} of {len(a):,} the evidence of "
        "drift is stronger than in 99 of 100 streams without any."
    ]


def _unreadable(a: Assessment) -> list[str]:
    if not a.unreadable:
        return []
    count = len(a.unreadable)
    return [
        f"{count:,} inputs could not be read and are not counted."
        if count > 1
        else "1 input could not be read and is not counted."
    ]


def _impossible(a: Assessment) -> list[str]:
    if a.threshold < float("inf"):
        return []
    return [
        f"Nothing can be flagged: {len(a.calibration_scores)} calibration inputs are too few for a "
        f"false-alarm rate of {share(a.false_alarm_rate)}."
    ]


def _carried(surprises: Mapping[str, float]) -> list[str]:
    """What carries a score that is made of parts, in words; nothing where it has none."""
    if not surprises:
        return []
    largest = sorted(surprises, key=lambda name: -surprises[name])
    found = [name for name in largest if surprises[name] >= UNUSUAL][:NAMED]
    if not found:
        return ["No statistic is unusual by itself: the score is that of all together."]
    named = ", ".join(f"{name} ({MEANINGS.get(name, name)}), {surprises[name]:.1f} nats" for name in found)
    return [f"Unusual by itself: {named}."]


def _remark(statistics: Mapping[str, Standing]) -> list[str]:
    """Which statistics stand out, in words."""
    high = [name for name, standing in statistics.items() if standing.percentile >= EXTREME]
    known = [name for name, standing in statistics.items() if standing.percentile == standing.percentile]
    if len(known) < 2:
        return []
    if not high:
        return ["No statistic stands out among the calibration inputs."]
    unlikely = any(name.endswith("-ll") for name in high)
    doubted = any(name in ("ess", "kl", "entropy", "std") for name in high)
    if unlikely and doubted:
        return ["The draws disagree about it, and they find it unlikely."]
    if doubted:
        return ["The draws disagree about it, though they do not find it unlikely."]
    return ["The draws agree about it, and find it unlikely."]
