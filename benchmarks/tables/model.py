"""What the model adds to the training rows: what each statistic is worth to the sum, and by itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import partial
from statistics import fmean

from benchmarks.records import Record, Records
from benchmarks.tables.sets import kind_of
from benchmarks.tables.summary import Mean, bootstrap

__all__ = ["ALL", "alone", "contributions", "sums"]

DETECTOR = "detector"
ALL, LIKELIHOOD = "all", "mean-ll"
DISAGREEMENT = ("kl", "std", "ess")


def contributions(records: Records, kind: str | None = None) -> dict[str, Mean]:
    """Differences of AUROC with their paired bootstrap intervals over sets, by what they are called.

    First the sum with a statistic minus the sum without it, then disagreement alone minus likelihood alone.
    """
    fits = _by_set(records, kind)
    if not fits:
        return {}
    told: dict[str, Callable[[Record], float]] = {
        f"the sum with `{name}` minus without": partial(_added, name=name) for name in _parts(fits)
    }
    told |= {
        f"`{name}` alone minus `{LIKELIHOOD}` alone": partial(_ahead, name=name) for name in DISAGREEMENT
    }
    return {
        label: bootstrap([fmean(map(tell, own)) for own in fits.values()]) for label, tell in told.items()
    }


def alone(records: Records, statistic: str, kind: str) -> float:
    """The mean AUROC over sets of one statistic by itself; not a number where nothing is measured."""
    fits = _by_set(records, kind)
    each = [fmean(fit.about["statistics"][statistic] for fit in own) for own in fits.values()]
    return fmean(each) if each else float("nan")


def sums(records: Records, kind: str) -> dict[str, dict[str, float]]:
    """The AUROC of each set of a kind by the sum of ``all``, and by those that leave one of them out."""
    fits = _by_set(records, kind)
    return {
        name: {each: fmean(fit.about["sums"][name] for fit in own) for each, own in fits.items()}
        for name in (ALL, *_parts(fits))
    }


def _parts(fits: dict[str, list[Record]]) -> list[str]:
    """What is added up."""
    return [name for name in next(iter(fits.values()))[0].about["sums"] if name != ALL] if fits else []


def _added(fit: Record, name: str) -> float:
    return float(fit.about["sums"][ALL] - fit.about["sums"][name])


def _ahead(fit: Record, name: str) -> float:
    return float(fit.about["statistics"][name] - fit.about["statistics"][LIKELIHOOD])


def _by_set(records: Records, kind: str | None) -> dict[str, list[Record]]:
    """Fits that ended and say what was added up."""
    found: dict[str, list[Record]] = defaultdict(list)
    for fit in records.read(DETECTOR):
        if fit.about.get("sums") and kind in (None, kind_of(fit.rows[0]["columns"])):
            found[fit.name].append(fit)
    return dict(found)
