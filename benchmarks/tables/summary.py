"""From records to one line a detector: means over sets, ranks, and intervals of differences."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from benchmarks.records import Record, Records, digest
from benchmarks.tables.measure import FALSE_ALARM_RATE
from benchmarks.tables.sets import kind_of
from dissensus.decisions import least_calibration_size
from dissensus.seeding import numpy_stream

__all__ = [
    "Line",
    "Mean",
    "OnSet",
    "bootstrap",
    "differences",
    "incomplete",
    "left_out",
    "lines",
    "mixed",
    "rank_means",
    "read_sets",
]

CHANCE = 0.5
RESAMPLES = 10_000
LEVEL = 0.95


@dataclass(frozen=True)
class OnSet:
    """One detector on one set, over all seeds."""

    kind: str
    auroc: float
    """The mean; a fit that ended in an error has that of chance."""
    average_precision: float
    """The mean; a fit that ended in an error has the share of anomalies."""
    false_alarms: float | None
    """The mean of fits that ended; None where so few rows were set aside that no alarm is possible."""
    seconds: float | None
    """To fit and to score; None where no fit ended."""
    errors: int
    fits: int


class Mean(NamedTuple):
    """A mean over sets, and where it lies if other sets of their kind had been chosen."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Line:
    """One detector on all sets."""

    detector: str
    auroc: float
    average_precision: float
    rank: float
    false_alarms: float | None
    seconds: float | None
    errors: int
    fits: int


BySet = Mapping[str, Mapping[str, OnSet]]
"""Of each detector, each set."""


Fits = Mapping[tuple[str, int | None], Record]
"""The records of one detector, by set and seed."""


def read_sets(
    records: Records, detectors: Iterable[str], *, prefix: str = "", needed: Sequence[str] = ()
) -> dict[str, dict[str, OnSet]]:
    """By detector and set, over the seeds that the ``needed`` detectors have of it; other sets are left out.

    A detector that lacks one of these sets or seeds is left out. Where none is needed, or none of those is
    here, all are: then sets and seeds are those that all have. Groups of records are called ``prefix`` and
    the detector's name.
    """
    found = _found(records, detectors, prefix)
    shared = _shared(found, needed)
    found = {name: own for name, own in found.items() if shared <= set(own)}
    by_set: dict[str, list[int | None]] = defaultdict(list)
    for each, seed in sorted(shared, key=str):
        by_set[each].append(seed)
    return {
        name: {each: _on_set([own[each, seed] for seed in seeds]) for each, seeds in by_set.items()}
        for name, own in found.items()
    }


def left_out(records: Records, detectors: Iterable[str], *, needed: Sequence[str] = ()) -> list[str]:
    """Sets that some detector here was measured on and one of the ``needed`` was not."""
    found = _found(records, detectors)
    shared = {each for each, _ in _shared(found, needed)}
    return sorted({each for own in found.values() for each, _ in own} - shared)


def incomplete(
    records: Records, detectors: Iterable[str], *, prefix: str = "", needed: Sequence[str] = ()
) -> list[str]:
    """Detectors that lack a set or a seed which all of the ``needed`` were measured on."""
    found = _found(records, detectors, prefix)
    shared = _shared(found, needed)
    return [name for name, own in found.items() if not shared <= set(own)]


def mixed(records: Records, detectors: Iterable[str], *, prefix: str = "") -> list[str]:
    """Detectors whose records are of several settings: some of them are older than the others."""
    return [
        name
        for name in detectors
        if len({digest(record.settings) for record in records.read(f"{prefix}{name}")}) > 1
    ]


def of_kind(by_set: BySet, kind: str | None) -> dict[str, dict[str, OnSet]]:
    """The sets of this kind, or all."""
    return {
        name: {each: one for each, one in sets.items() if kind is None or one.kind == kind}
        for name, sets in by_set.items()
    }


def lines(by_set: BySet, kind: str | None = None) -> list[Line]:
    """All detectors on the sets of a kind, the best mean rank first."""
    chosen = of_kind(by_set, kind)
    means = {name: float(own.mean()) for name, own in _ranks(chosen).items() if len(own)}
    return sorted((_line(name, list(chosen[name].values()), means[name]) for name in means), key=_by_rank)


def rank_means(by_set: BySet, kind: str | None = None) -> dict[str, Mean]:
    """Mean rank of each detector with its bootstrap interval over sets, the best first."""
    found = {name: bootstrap(own) for name, own in _ranks(of_kind(by_set, kind)).items() if len(own)}
    return dict(sorted(found.items(), key=lambda item: item[1].value))


def differences(by_set: BySet, ours: str, base: str, kind: str | None = None) -> Mean | None:
    """Mean AUROC of ours minus that of the other on the same sets, with its paired bootstrap interval."""
    chosen = of_kind(by_set, kind)
    if not chosen.get(ours) or not chosen.get(base):
        return None
    return bootstrap([one.auroc - chosen[base][name].auroc for name, one in chosen[ours].items()])


def bootstrap(values: Sequence[float] | NDArray[np.float64], *, seed: int = 0) -> Mean:
    """The mean of one value a set, and the middle 95% of the means of sets drawn with replacement.

    >>> bootstrap([1.0, 1.0])
    Mean(value=1.0, low=1.0, high=1.0)
    """
    own = np.asarray(values, dtype=np.float64)
    drawn = numpy_stream(seed, "bootstrap").integers(0, len(own), (RESAMPLES, len(own)))
    low, high = np.quantile(own[drawn].mean(axis=1), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Mean(float(own.mean()), float(low), float(high))


def _found(records: Records, detectors: Iterable[str], prefix: str = "") -> dict[str, Fits]:
    """Of each detector that has any."""
    read = {
        name: {(record.name, record.seed): record for record in records.read(f"{prefix}{name}")}
        for name in detectors
    }
    return {name: own for name, own in read.items() if own}


def _shared(found: Mapping[str, Fits], needed: Sequence[str]) -> set[tuple[str, int | None]]:
    """Sets and seeds that the needed have, or all if none of the needed is here."""
    chosen = [set(found[name]) for name in needed if name in found] or [set(own) for own in found.values()]
    return set.intersection(*chosen) if chosen else set()


def _on_set(records: Sequence[Record]) -> OnSet:
    rows = [record.rows[0] for record in records]
    ended = [row for row in rows if not row.get("error")]
    audible = [row for row in ended if row["calibration"] >= least_calibration_size(FALSE_ALARM_RATE)]
    seconds = [record.seconds["all"] for record in records if "all" in record.seconds]
    return OnSet(
        kind_of(rows[0]["columns"]),
        fmean(CHANCE if row.get("error") else row["auroc"] for row in rows),
        fmean(_share_of_anomalies(row) if row.get("error") else row["average_precision"] for row in rows),
        fmean(row["false_alarms"] for row in audible) if audible else None,
        fmean(seconds) if seconds else None,
        len(rows) - len(ended),
        len(rows),
    )


def _share_of_anomalies(row: Mapping[str, Any]) -> float:
    """The average precision of a detector that knows nothing."""
    return float(row["strange"] / (row["strange"] + row["normal"]))


def _ranks(by_set: BySet) -> dict[str, NDArray[np.float64]]:
    """Of each detector, its rank by AUROC on each set, 1 the best; equal ones share a rank.

    Where a fit ended in an error the rank is the worst, whatever others did.
    """
    names = list(by_set)
    areas = np.array(
        [[-np.inf if one.errors else one.auroc for one in by_set[name].values()] for name in names]
    )
    return dict(zip(names, rankdata(-areas, axis=0) if areas.size else areas, strict=True))


def _line(detector: str, sets: Sequence[OnSet], rank: float) -> Line:
    return Line(
        detector,
        fmean(one.auroc for one in sets),
        fmean(one.average_precision for one in sets),
        rank,
        _mean([one.false_alarms for one in sets]),
        _mean([one.seconds for one in sets]),
        sum(one.errors for one in sets),
        sum(one.fits for one in sets),
    )


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _by_rank(line: Line) -> float:
    return line.rank
