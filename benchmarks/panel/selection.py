"""Chooses a detector by what may be looked at: validation images, and outliers made up of others of them.

No other dataset is read, and no test image.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from benchmarks.grid import candidates, plain_changes
from benchmarks.panel.configuration import RECOMMENDED, with_posterior
from benchmarks.panel.inputs import Sizes
from benchmarks.panel.records import Task, read_rows
from benchmarks.panel.runs import RunKey
from benchmarks.panel.sets import InlierSet
from benchmarks.panel.summary import Summary, summarise
from benchmarks.panel.table import summary_grid, to_terminal
from dissensus.errors import SettingsError
from dissensus.evaluation import write_record

__all__ = ["LEAST_WORST", "RULE", "choose", "selection_tasks", "show_selection"]

LEAST_WORST = 0.95
RULE = (
    "of the candidates measured on all sets: the highest mean AUROC among those whose worst far outlier has "
    f"at least {LEAST_WORST}; where there is none, the highest worst"
)


def selection_tasks(
    inliers: Sequence[InlierSet],
    posteriors: Sequence[str],
    grid: Sequence[str],
    seeds: Sequence[int],
    *,
    sizes: Sizes,
    quick: bool,
) -> list[Task]:
    """Every posterior with every combination of the grid, such as ``observation=bernoulli,gaussian``."""
    if any(each.held_out for each in inliers):
        raise SettingsError("candidates are compared on whole datasets; leave the held-out classes out")
    base = RECOMMENDED.quick() if quick else RECOMMENDED
    tasks = []
    for seed, each, posterior in itertools.product(seeds, inliers, posteriors):
        unchanged = with_posterior(base, posterior)
        for _, configuration in candidates(unchanged, grid):
            changes = configuration.changes(unchanged)  # what is no change is the same candidate
            label = "+".join([posterior, *(f"{name}={value}" for name, value in changes.items())])
            key = RunKey(each, configuration, sizes, seed, "selection")
            tasks.append(Task(key, label, "selection", {"changes": plain_changes(changes)}))
    return tasks


def choose(summaries: Sequence[Summary]) -> Summary:
    """The candidate that :data:`RULE` names."""
    most = max(each.pairs for each in summaries)
    whole = [each for each in summaries if each.pairs == most]
    good = [each for each in whole if (each.worst_far or 0.0) >= LEAST_WORST]
    if good:
        return max(good, key=lambda each: each.mean)
    return max(whole, key=lambda each: each.worst_far or 0.0)


def show_selection(output: Path, console: Console, *, quick: bool) -> None:
    """Prints the candidates and the chosen one, and writes ``selection.json``."""
    rows = [row for row, _, _ in read_rows(output, "selection", quick=quick)]
    if not rows:
        console.print(f"There are no selection records in {output} yet.")
        return
    summaries = summarise(rows)
    chosen = choose(summaries)
    mark = " (QUICK: not a result)" if quick else ""
    console.print(to_terminal(summary_grid(f"Candidates on made-up outliers{mark}", summaries)))
    console.print(f"chosen: {chosen.posterior}, {chosen.score}; the rule: {RULE}", highlight=False)
    write_record(
        output / "selection.json",
        {
            "quick": quick,
            "rule": RULE,
            "chosen": asdict(chosen),
            "candidates": [asdict(each) for each in summaries],
        },
    )
