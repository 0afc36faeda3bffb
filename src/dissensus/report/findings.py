"""From a demonstration's record to sentences: where likelihood fails, and where disagreement does."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["called", "false_alarm_sentence", "findings"]

FAILS = 0.75  # an AUROC below this is of little use
LIKELIHOOD = "mean-ll"
NEIGHBOURS = "neighbours"


def called(statistic: str) -> str:
    """Return how a sentence names a detector's score.

    >>> called("kl"), called("fused")
    ('disagreement (kl)', 'the fused score')
    """
    return "the fused score" if statistic == "fused" else f"disagreement ({statistic})"


def findings(record: Mapping[str, Any]) -> list[str]:
    """What the numbers say of plain likelihood, and of neighbours, against the detector's own statistic.

    One is called better only where the confidence intervals of the two AUROCs do not meet.
    """
    statistic = record["settings"]["statistic"]
    own_name = called(statistic)
    pairs = {k: (o["auroc"][LIKELIHOOD], o["auroc"][statistic]) for k, o in record["outliers"].items()}
    upside_down = [k for k, (ll, _) in pairs.items() if ll["high"] < 0.5]
    rescued = [k for k, (ll, own) in pairs.items() if own["low"] > ll["high"]]
    lost = [k for k, (ll, own) in pairs.items() if own["high"] < ll["low"]]
    neither = [k for k, (ll, own) in pairs.items() if max(ll["value"], own["value"]) < FAILS]

    def listed(kinds: Sequence[str], *, first: int) -> str:
        """Each kind with both AUROCs, that of ``first`` (0 likelihood, 1 disagreement) before the other."""
        areas = {k: [area["value"] for area in pairs[k]] for k in kinds}
        return ", ".join(f"{k} ({a[first]:.2f} against {a[1 - first]:.2f})" for k, a in areas.items())

    sentences: list[str] = []
    if upside_down:
        names = " and ".join(filter(None, [", ".join(upside_down[:-1]), upside_down[-1]]))
        sentences.append(f"Plain likelihood finds {names} more normal than real clothes: AUROC below 0.5.")
    if rescued:
        sentences.append(
            f"{own_name[0].upper()}{own_name[1:]} beats likelihood in AUROC on {listed(rescued, first=1)}."
        )
    if lost:
        sentences.append(f"Likelihood beats {own_name} in AUROC on {listed(lost, first=0)}.")
    if neither:
        sentences.append(
            f"Neither is of much use on {listed(neither, first=0)}: likelihood first, then {own_name}."
        )
    simpler = {
        kind: (areas[NEIGHBOURS]["value"], areas[statistic]["value"])
        for kind, areas in ((kind, outlier["auroc"]) for kind, outlier in record["outliers"].items())
        if NEIGHBOURS in areas and areas[NEIGHBOURS]["low"] > areas[statistic]["high"]
    }
    if simpler:
        where = ", ".join(f"{kind} ({a:.2f} against {b:.2f})" for kind, (a, b) in simpler.items())
        sentences.append(f"The 5th nearest neighbour, without any model, beats {own_name} on {where}.")
    return sentences or [f"Likelihood and {own_name} do equally well on every kind here."]


def false_alarm_sentence(record: Mapping[str, Any]) -> str:
    """The realised false-alarm rate, and how far chance alone can carry it from the one asked for."""
    rate, inliers = record["settings"]["false_alarm_rate"], record["inliers"]
    count, flagged = inliers["count"], inliers["flagged"]
    # Both the calibration inputs and those tested are samples.
    deviation = math.sqrt(rate * (1 - rate) * (1 / count + 1 / record["calibration_inputs"]))
    low, high = max(0.0, rate - 2 * deviation), rate + 2 * deviation
    return (
        f"{flagged} of {count} unseen clothes were flagged: {flagged / count:.1%}, asked for {rate:.0%} "
        f"(chance allows {low:.1%} to {high:.1%})."
    )
