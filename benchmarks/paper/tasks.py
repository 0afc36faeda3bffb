"""The records of the paper's benchmarks: what each is made from, and what is reported of it.

A benchmark is a group of records; their names are as in ``settled/BVAE1``. Candidates for a preset are in
groups of their own, such as ``selection-svhn-vs-cifar10``.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np

from benchmarks.curves import histogram, roc_points
from benchmarks.drawing import picture_sheet
from benchmarks.paper.benchmarks import FULL, QUICK, Benchmark
from benchmarks.paper.methods import Method, other_scores
from benchmarks.paper.presets import RunName, find_preset
from benchmarks.paper.runs import PaperRun
from benchmarks.runner import Report, Results, Task
from benchmarks.selection import candidate_name, candidates
from dissensus.evaluation import auroc_interval, evaluate

__all__ = ["SELECTED_RUNS", "paper_tasks", "selection_group", "selection_tasks"]

SELECTED_RUNS: tuple[RunName, ...] = ("bvae1", "bvae2")
DRAWN = {"LL": -1.0, "BVAE2": 1.0}
"""Methods whose scores have a histogram, and the sign it shows them with."""
PICTURED = ("fashion-mnist-vs-mnist", "settled", "BVAE1", 0)
"""The record beside which pictures are kept: one is enough for the eye."""


def paper_tasks(
    benchmarks: Sequence[Benchmark],
    methods: Sequence[Method],
    presets: Sequence[str],
    seeds: Sequence[int],
    *,
    quick: bool,
) -> list[Task]:
    """A record for each cell of the table and each seed; a whole seed before the next one."""
    tasks = []
    for seed, benchmark, name, method in itertools.product(seeds, benchmarks, presets, methods):
        preset, sizes = find_preset(name, quick=quick), QUICK if quick else FULL
        runs: dict[str, PaperRun] = {
            run: PaperRun(benchmark, run, preset, sizes, seed) for run in method.runs
        }
        settings = {run: key.settings for run, key in runs.items()}
        report = partial(_report, method, (benchmark.name, name, method.name, seed) == PICTURED)
        tasks.append(Task(benchmark.name, f"{name}/{method.name}", seed, settings, runs, report))
    return tasks


def selection_group(benchmark: str) -> str:
    """Where candidates compared on that benchmark's validation images are."""
    return f"selection-{benchmark}"


def selection_tasks(
    benchmarks: Sequence[Benchmark],
    presets: Sequence[str],
    grid: Sequence[str],
    seeds: Sequence[int],
    *,
    quick: bool,
) -> list[Task]:
    """Both variants with every combination of the grid, by validation likelihood and diagnostics alone."""
    tasks = []
    sizes = QUICK if quick else FULL
    for benchmark, seed, name in itertools.product(benchmarks, seeds, presets):
        for (changes, preset), run in itertools.product(
            candidates(find_preset(name, quick=quick), grid), SELECTED_RUNS
        ):
            key = PaperRun(benchmark, run, preset, sizes, seed, "selection")
            tasks.append(
                Task(
                    selection_group(benchmark.name),
                    f"{candidate_name(name, changes)}/{run}",
                    seed,
                    {run: key.settings},
                    {run: key},
                    _selection_report,
                    keeps_divergence=True,
                )
            )
    return tasks


def _report(method: Method, pictured: bool, results: Results) -> Report:
    """A row for the method's score, and for a Bayesian VAE one for each other score of the same draws."""
    first = results[method.runs[0]]
    n = int(first.info["inliers"])
    scores = method.score(results)
    inside, outside = scores[:n], scores[n:]
    interval = auroc_interval(inside, outside)
    rows = [{"score": method.name, **asdict(evaluate(inside, outside))}]
    about: dict[str, Any] = {
        "n_in": len(inside),
        "n_out": len(outside),
        "auroc_interval_95": [interval.low, interval.high],
        "roc": roc_points(inside, outside),
    }
    if method.name in DRAWN:
        sign = DRAWN[method.name]
        about["histogram"] = histogram(sign * inside, sign * outside, logarithmic=method.name == "BVAE2")
    if method.name.startswith("BVAE"):
        rows += [
            {"score": name, **asdict(evaluate(each[:n], each[n:]))}
            for name, each in other_scores(first).items()
        ]
    if not pictured:
        return Report(rows, about)
    columns, sheet = first["pictured"], "disagreement-pictures.png"
    about["pictured"] = {
        "sheet": sheet,
        "scores": scores[columns],
        "inliers": int(np.sum(columns < n)),
        "draws": len(first["reconstructions"]),
    }
    images = np.concatenate([first["pictures"][None], first["reconstructions"]])
    return Report(rows, about, {sheet: picture_sheet(images)})


def _selection_report(results: Results) -> Report:
    ((run, result),) = results.items()
    found = result.info["diagnostics"]
    names = ("validation_log_likelihood", "validation_log_likelihood_of_mixture", "rhat", "noise_floor")
    numbers = {name: found[name] for name in (*names, "importance_sampling_error", "spread_over_draws")}
    return Report([{"run": run, **numbers}])
