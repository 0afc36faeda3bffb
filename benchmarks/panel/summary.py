"""Many rows in a few numbers: means, the worst case, and ranks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from scipy.stats import rankdata

from benchmarks.panel.power import Power, mean_power
from benchmarks.panel.rows import Row
from benchmarks.panel.sets import GROUPS

__all__ = ["Pair", "Summary", "at_same_places", "measured_by_all", "pairs", "summarise"]


@dataclass(frozen=True)
class Pair:
    """One kind of outlier against one in-distribution set, over seeds."""

    inliers: str
    outliers: str
    kind: str
    posterior: str
    score: str
    auroc: float
    spread: float | None
    """Standard deviation of AUROC over seeds; None for a single one."""
    fpr80_in: float
    fpr95_in: float
    training_file: Power | None
    """With calibration images of the file that was trained on, the mean over seeds."""
    test_file: Power | None
    """With calibration images of the file that the inliers are from; None where a seed lacks it."""
    seeds: int

    @property
    def title(self) -> str:
        """As in ``svhn → cifar10``."""
        return f"{self.inliers} → {self.outliers}"


@dataclass(frozen=True)
class Summary:
    """One posterior and score over all pairs; None where there is no pair of that kind."""

    posterior: str
    score: str
    mean: float
    """Of AUROC over all pairs."""
    far: float | None
    worst_far: float | None
    worst_far_pair: str
    near: float | None
    made_up: float | None
    fpr80_in: float
    fpr95_in: float
    training_file: Power | None
    test_file: Power | None
    """As of a pair, the mean over pairs; what does not count there is 0 here."""
    rank: float
    """Mean over pairs of its rank by AUROC among all that were measured there; 1 is best, ties share."""
    pairs: int


def pairs(rows: Iterable[Row], *, grouped: bool = False) -> list[Pair]:
    """Means over seeds, in the order of the rows; ``grouped``: sets of a group are one pair, their mean."""
    found: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        group = next((name for name, members in GROUPS.items() if row.inliers in members), None)
        named = (row.inliers, row.outliers) if group is None or not grouped else (group, "held-out classes")
        found[(*named, row.posterior, row.score)].append(row)
    return [_pair(own, inliers, outliers) for (inliers, outliers, *_), own in found.items()]


def measured_by_all(rows: Sequence[Row]) -> list[Row]:
    """Those of sets and seeds that every posterior was measured on: all others compare unlike with unlike."""
    found: dict[tuple[str, int], set[str]] = defaultdict(set)
    for row in rows:
        found[row.inliers, row.seed].add(row.posterior)
    everybody = {row.posterior for row in rows}
    return [row for row in rows if found[row.inliers, row.seed] == everybody]


def at_same_places(rows: Sequence[Row], others: Iterable[Row]) -> list[Row]:
    """Those of the others that were measured on the same images: of the same sets, outliers and seeds."""
    places = {(row.inliers, row.outliers, row.seed) for row in rows}
    return [row for row in others if (row.inliers, row.outliers, row.seed) in places]


def summarise(rows: Sequence[Row]) -> list[Summary]:
    """A line for each posterior and score, the best mean rank first."""
    measured = pairs(rows)
    by_place: dict[tuple[str, str], list[Pair]] = defaultdict(list)
    for pair in measured:
        by_place[pair.inliers, pair.outliers].append(pair)
    ranks: dict[tuple[str, str], list[float]] = defaultdict(list)
    for rivals in by_place.values():
        for rival, rank in zip(rivals, rankdata([-rival.auroc for rival in rivals]), strict=True):
            ranks[rival.posterior, rival.score].append(float(rank))
    by_method: dict[tuple[str, str], list[Pair]] = defaultdict(list)
    for pair in measured:
        by_method[pair.posterior, pair.score].append(pair)
    found = [_summary(own, fmean(ranks[method])) for method, own in by_method.items()]
    return sorted(found, key=lambda summary: summary.rank)


def _summary(own: Sequence[Pair], rank: float) -> Summary:
    far = [pair for pair in own if pair.kind == "far"]
    worst = min(far, key=lambda pair: pair.auroc, default=None)
    return Summary(
        posterior=own[0].posterior,
        score=own[0].score,
        mean=fmean(pair.auroc for pair in own),
        far=_mean(own, "far"),
        worst_far=None if worst is None else worst.auroc,
        worst_far_pair="" if worst is None else worst.title,
        near=_mean(own, "near"),
        made_up=_mean(own, "made-up"),
        fpr80_in=fmean(pair.fpr80_in for pair in own),
        fpr95_in=fmean(pair.fpr95_in for pair in own),
        training_file=mean_power((pair.training_file for pair in own), counted=True),
        test_file=mean_power((pair.test_file for pair in own), counted=True),
        rank=rank,
        pairs=len(own),
    )


def _pair(own: Sequence[Row], inliers: str, outliers: str) -> Pair:
    seeds = sorted({row.seed for row in own})
    by_seed = [fmean(row.auroc for row in own if row.seed == seed) for seed in seeds]
    return Pair(
        inliers=inliers,
        outliers=outliers,
        kind=own[0].kind,
        posterior=own[0].posterior,
        score=own[0].score,
        auroc=fmean(by_seed),
        spread=stdev(by_seed) if len(by_seed) > 1 else None,
        fpr80_in=fmean(row.fpr80_in for row in own),
        fpr95_in=fmean(row.fpr95_in for row in own),
        training_file=mean_power(row.training_file for row in own),
        test_file=mean_power(row.test_file for row in own),
        seeds=len(seeds),
    )


def _mean(own: Sequence[Pair], kind: str) -> float | None:
    values = [pair.auroc for pair in own if pair.kind == kind]
    return fmean(values) if values else None
