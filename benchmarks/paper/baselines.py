"""The simple baselines on the paper's splits: same training and test images as its methods, same metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from statistics import fmean, stdev
from typing import Any

from rich.console import Console

from benchmarks.baselines.detectors import BASELINES, FloatArray
from benchmarks.baselines.measure import PREFIX, Split, baseline_tasks, measure, pictures
from benchmarks.decimals import short
from benchmarks.paper.benchmarks import BENCHMARKS, FULL, GROUPS, QUICK, Benchmark, Sizes, load_inputs
from benchmarks.paper.published import COLUMNS
from benchmarks.records import Records
from dissensus.evaluation import evaluate

__all__ = ["baseline_table", "measure_paper"]

METRICS = {"auroc": "AUROC ↑", "auprc_out": "AUPRC ↑", "fpr80_out": "FPR80 ↓"}
"""Those of the paper's table, with outliers as the positive class."""


def measure_paper(
    records: Records, benchmarks: Sequence[Benchmark], seeds: Sequence[int], *, console: Console
) -> None:
    """Measure every baseline that has no record yet, and print all of them in the paper's columns."""
    sizes = QUICK if records.quick else FULL
    tasks = baseline_tasks([each.name for each in benchmarks], seeds, {"sizes": asdict(sizes)})
    measure(records, tasks, lambda name, seed: _split(name, seed, sizes), console)
    console.print(baseline_table(records), markup=False, highlight=False, soft_wrap=True)


def baseline_table(records: Records) -> str:
    """Markdown: a line for each baseline, mean ± standard deviation over seeds, in the paper's columns.

    A group is the mean of its members, of the seeds that all of them were measured with.
    """
    head = ["", *(f"{title}<br>{metric}" for title in COLUMNS.values() for metric in METRICS.values())]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for name in BASELINES:
        cells = [_cell(_by_seed(records, column, name, metric)) for column in COLUMNS for metric in METRICS]
        lines.append(f"| {' | '.join([name, *cells])} |")
    return "\n".join(lines) + "\n"


def _by_seed(records: Records, column: str, name: str, metric: str) -> list[float]:
    """The metric of a benchmark, or the mean of a group's members, for each seed."""
    found = [
        {record.seed: record.rows[0][metric] for record in records.read(each) if record.name == PREFIX + name}
        for each in GROUPS.get(column, (column,))
    ]
    seeds = set.intersection(*(set(own) for own in found))
    return [fmean(own[seed] for own in found) for seed in seeds]


def _cell(values: Sequence[float]) -> str:
    if not values:
        return "–"
    return short(fmean(values)) + (f"±{short(stdev(values))}" if len(values) > 1 else "")


def _split(name: str, seed: int, sizes: Sizes) -> Split:
    inputs = load_inputs(BENCHMARKS[name], sizes, seed=seed)
    inliers = len(inputs.inliers)

    def rows(_: str, scores: FloatArray) -> list[dict[str, Any]]:
        inside, outside = scores[:inliers], scores[inliers:]
        return [{**asdict(evaluate(inside, outside)), "n_in": len(inside), "n_out": len(outside)}]

    return Split(pictures(inputs.training), pictures(inputs.validation), pictures(inputs.test), rows)
