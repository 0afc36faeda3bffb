"""From what a gate said about a set of inputs to sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dissensus.unusual import MEANINGS, carried, decided, noted

if TYPE_CHECKING:
    from dissensus.explain import Standing
    from dissensus.inspection import Assessment, Case

__all__ = ["MEANINGS", "case_sentences", "gate_summary", "label", "share", "what_changed"]

EXTREME = 95.0  # a percentile worth a remark
NAMED = 3  # columns that a sentence names
LEAST_FOR_DRIFT = 20  # inputs, as an assessment has it


def gate_summary(assessment: Assessment) -> list[str]:
    """What the numbers say, the verdict first."""
    return [
        _verdict(assessment),
        assessment.exchangeability.sentence,
        *_strangest(assessment),
        *_drift(assessment),
        *_columns(assessment),
        *_unreadable(assessment),
        *_impossible(assessment),
    ]


def what_changed(assessment: Assessment) -> str:
    """In a few words, how the inputs as a whole differ from those that the gate learnt from."""
    a = assessment
    shift = {"none": "", "higher": "they score higher", "lower": "they score lower"}
    moved = [column.column for column in a.columns if column.moved]
    found = [
        shift.get(a.exchangeability.shift, "more of them score very high"),
        "they drift" if a.is_ordered and a.drift_alarm is not None else "",
        f"{len(moved)} of {len(a.columns)} columns moved" if moved else "",
    ]
    return ", ".join(filter(None, found))


def case_sentences(case: Case) -> list[str]:
    """What there is to say about one input besides its pictures."""
    e = case.explanation
    _, p_value, flagged = e.decision
    percentiles = {name: standing.percentile for name, standing in e.statistics.items()}
    return [
        decided(p_value, flagged=flagged),
        *noted(e.notes, e.known),
        *(carried(e.surprises, percentiles, flagged=flagged) or _remark(e.statistics)),
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
    if not a.is_ordered:
        return [f"Too few inputs to look for drift: it takes {LEAST_FOR_DRIFT}."]
    if a.drift_alarm is None:
        return ["In the order they come, the inputs show no drift."]
    return [
        f"Drift: by input {a.drift_alarm + 1:,} of {len(a):,} it is clear that the inputs no longer score as "
        "those did that the gate was calibrated on; without a change 1 in 100 streams looks so."
    ]


def _columns(a: Assessment) -> list[str]:
    moved = [shift for shift in a.columns if shift.moved]
    if not a.columns:
        return []
    if not moved:
        return [f"No column has moved, of {len(a.columns)}."]
    named = "; ".join(f"{shift.column}: {shift.before} → {shift.now}" for shift in moved[:NAMED])
    more = f"; and {len(moved) - NAMED} more" if len(moved) > NAMED else ""
    return [f"{len(moved)} of {len(a.columns)} columns have moved since training: {named}{more}."]


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
