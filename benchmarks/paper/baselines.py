"""The simple baselines on the paper's splits: same training and test images as its methods, same metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from statistics import fmean
from typing import Any

from rich.console import Console

from benchmarks.baselines.detectors import BASELINES, FloatArray
from benchmarks.baselines.measure import PREFIX, Split, baseline_tasks, measure, pictures
from benchmarks.decimals import short
from benchmarks.paper.benchmarks import BENCHMARKS, FULL, GROUPS, QUICK, Benchmark, Sizes, load_inputs
from benchmarks.paper.published import COLUMNS, PUBLISHED
from benchmarks.paper.table import METRICS
from benchmarks.records import Records
from benchmarks.tables import Grid, mean_and_spread, quick_title
from dissensus.evaluation import evaluate

__all__ = ["baseline_grids", "measure_paper"]


def measure_paper(
    records: Records, benchmarks: Sequence[Benchmark], seeds: Sequence[int], *, console: Console
) -> None:
    """Measure every baseline that has no record yet, beside the records of the paper's methods."""
    sizes = QUICK if records.quick else FULL
    tasks = baseline_tasks([each.name for each in benchmarks], seeds, {"sizes": asdict(sizes)})
    measure(records, tasks, lambda name, seed: _split(name, seed, sizes), console)


def baseline_grids(records: Records) -> list[Grid]:
    """A table for each of the paper's benchmarks, beside the better of its two variants.

    A group is the mean of its members, of the seeds that all of them were measured with.
    """
    head = ("", *(title for _, title in METRICS.values()))
    grids = []
    for column, title in COLUMNS.items():
        values = {name: [_by_seed(records, column, name, metric) for metric in METRICS] for name in BASELINES}
        lines = [(name, *map(mean_and_spread, numbers)) for name, numbers in values.items() if numbers[0]]
        if lines:
            best = max((PUBLISHED[column, name] for name in ("BVAE1", "BVAE2")), key=lambda each: each.auroc)
            lines.append(("the paper", *(short(getattr(best, printed)) for printed, _ in METRICS.values())))
            named = quick_title(f"Simple baselines: {title}", records.quick)
            grids.append(Grid(named, head, tuple(lines)))
    return grids


def _by_seed(records: Records, column: str, name: str, metric: str) -> list[float]:
    """The metric of a benchmark, or the mean of a group's members, for each seed."""
    found = [
        {record.seed: record.rows[0][metric] for record in records.read(each) if record.name == PREFIX + name}
        for each in GROUPS.get(column, (column,))
    ]
    seeds = set.intersection(*(set(own) for own in found))
    return [fmean(own[seed] for own in found) for seed in seeds]


def _split(name: str, seed: int, sizes: Sizes) -> Split:
    inputs = load_inputs(BENCHMARKS[name], sizes, seed=seed)
    inliers = len(inputs.inliers)

    def rows(_: str, scores: FloatArray) -> list[dict[str, Any]]:
        inside, outside = scores[:inliers], scores[inliers:]
        return [{**asdict(evaluate(inside, outside)), "n_in": len(inside), "n_out": len(outside)}]

    return Split(pictures(inputs.training), pictures(inputs.validation), pictures(inputs.test), rows)
