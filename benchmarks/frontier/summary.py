"""What the records say of each point, and which of them nothing else beats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from benchmarks.frontier.points import POINTS, THOROUGH
from benchmarks.records import Record

__all__ = ["MARGIN", "Summary", "knee", "pareto", "summaries"]

MARGIN = 0.003
"""How much mean AUROC below that of all draws and samples is called as good."""


@dataclass(frozen=True)
class Summary:
    """One point, over all selection sets."""

    name: str
    mean: float
    """AUROC, the mean over kinds of outlier and then over sets."""
    worst: float
    """Of the kind and set found worst."""
    loss: float
    """The largest loss of a set's mean from that of all draws and samples."""
    decodings: int
    one: float
    """Milliseconds, the median over sets of one channel."""
    batch: float
    """The same for a batch."""


def summaries(records: Sequence[Record]) -> list[Summary]:
    """Every point that was measured on all sets, the cheapest first."""
    found = []
    for name in POINTS:
        areas = [_areas(record, name) for record in records]
        if not areas or not all(areas):
            continue
        whole = [fmean(_areas(record, THOROUGH)) for record in records]
        grey = [record for record in records if record.settings["dataset"] != "svhn"] or list(records)
        times = [record.about["milliseconds"][name] for record in grey]
        found.append(
            Summary(
                name,
                fmean(map(fmean, areas)),
                min(map(min, areas)),
                max(most - fmean(own) for most, own in zip(whole, areas, strict=True)),
                records[0].about["decodings"][name],
                fmean(each["one"] for each in times),
                fmean(each["batch"] for each in times),
            )
        )
    return sorted(found, key=lambda each: each.batch)


def pareto(points: Sequence[Summary]) -> list[Summary]:
    """Those that no cheaper one equals in the mean, the cheapest first."""
    front: list[Summary] = []
    for point in sorted(points, key=lambda each: (each.batch, -each.mean)):
        if not front or point.mean > front[-1].mean:
            front.append(point)
    return front


def knee(points: Sequence[Summary]) -> Summary:
    """The cheapest whose mean is within :data:`MARGIN` of all draws and samples."""
    [whole] = [point for point in points if point.name == THOROUGH]
    return min((point for point in points if point.mean >= whole.mean - MARGIN), key=lambda each: each.batch)


def _areas(record: Record, name: str) -> list[float]:
    return [row["auroc"] for row in record.rows if row["point"] == name]
