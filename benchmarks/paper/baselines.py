"""The simple baselines on the paper's splits: same training and test images as its methods, same metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console

from benchmarks.baselines.detectors import FloatArray
from benchmarks.baselines.measure import Split, baseline_tasks, measure, pictures
from benchmarks.paper.benchmarks import BENCHMARKS, FULL, QUICK, Benchmark, Sizes, load_inputs
from benchmarks.records import Records
from dissensus.evaluation import evaluate

__all__ = ["measure_paper"]


def measure_paper(
    records: Records, benchmarks: Sequence[Benchmark], seeds: Sequence[int], *, console: Console
) -> None:
    """Measure every baseline that has no record yet, beside the records of the paper's methods."""
    sizes = QUICK if records.quick else FULL
    tasks = baseline_tasks([each.name for each in benchmarks], seeds, {"sizes": asdict(sizes)})
    measure(records, tasks, lambda name, seed: _split(name, seed, sizes), console)


def _split(name: str, seed: int, sizes: Sizes) -> Split:
    inputs = load_inputs(BENCHMARKS[name], sizes, seed=seed)
    inliers = len(inputs.inliers)

    def rows(_: str, scores: FloatArray) -> list[dict[str, Any]]:
        inside, outside = scores[:inliers], scores[inliers:]
        return [{**asdict(evaluate(inside, outside)), "n_in": len(inside), "n_out": len(outside)}]

    return Split(pictures(inputs.training), pictures(inputs.validation), pictures(inputs.test), rows)
