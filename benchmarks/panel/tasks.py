"""The records of the panel: what each is made from, and what is reported of it.

An in-distribution set is a group of records, called after their posteriors. Candidates and ablations are in
groups of their own, such as ``selection-svhn``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from benchmarks.panel.configuration import RECOMMENDED, with_posterior
from benchmarks.panel.inputs import FULL, QUICK, Sizes
from benchmarks.panel.power import FALSE_DISCOVERY_RATE, MIX
from benchmarks.panel.rows import Row, read_rows, rows_of_scores, to_record
from benchmarks.panel.runs import PanelRun
from benchmarks.panel.scores import FUSIONS, PANEL_SCORES, panel_scores, sections_of
from benchmarks.panel.sets import EVERY_SET, InlierSet
from benchmarks.records import Records
from benchmarks.runner import Report, Results, Task
from benchmarks.selection import candidate_name, candidates
from dissensus.errors import SettingsError
from dissensus.scores import Fused

__all__ = ["all_rows", "panel_sizes", "panel_task", "panel_tasks", "selection_tasks"]

REGRET = "likelihood-regret"


def panel_sizes(*, quick: bool) -> Sizes:
    """How many images serve which purpose."""
    return QUICK if quick else FULL


def panel_task(run: PanelRun, name: str, *, kind: str = "", only: Sequence[str] | None = None) -> Task:
    """A record of all scores of a run, or of those named, among those of a ``kind``."""
    return Task(
        group=_group(kind, run.inliers.name),
        name="/".join([name, *(only or ())]),
        seed=run.seed,
        settings={**run.settings, "scoring": _scoring()},
        runs={"run": run},
        report=partial(_report, run, only),
    )


def panel_tasks(
    inliers: Sequence[InlierSet],
    posteriors: Sequence[str],
    seeds: Sequence[int],
    *,
    quick: bool,
    regret: int = 0,
) -> list[Task]:
    """The recommended configuration with each posterior; a whole seed before the next.

    With ``regret``, likelihood regret of so many images of each set besides, as records of its own.
    """
    base, sizes = RECOMMENDED.quick() if quick else RECOMMENDED, panel_sizes(quick=quick)
    tasks = []
    for seed, each, posterior in itertools.product(seeds, inliers, posteriors):
        run = PanelRun(each, with_posterior(base, posterior), sizes, seed)
        tasks.append(panel_task(run, posterior))
        if regret:
            slow = replace(run, sizes=replace(sizes, regret=regret))
            tasks.append(panel_task(slow, posterior, only=[REGRET]))
    return tasks


def selection_tasks(
    inliers: Sequence[InlierSet],
    posteriors: Sequence[str],
    grid: Sequence[str],
    seeds: Sequence[int],
    *,
    quick: bool,
) -> list[Task]:
    """Every posterior with every combination of the grid, by made-up outliers of training images alone."""
    if any(each.held_out for each in inliers):
        raise SettingsError("candidates are compared on whole datasets; leave the held-out classes out")
    base, sizes = RECOMMENDED.quick() if quick else RECOMMENDED, panel_sizes(quick=quick)
    return [
        panel_task(
            PanelRun(each, configuration, sizes, seed, "selection"),
            candidate_name(posterior, changes),
            kind="selection",
        )
        for seed, each, posterior in itertools.product(seeds, inliers, posteriors)
        for changes, configuration in candidates(with_posterior(base, posterior), grid)
    ]


def all_rows(records: Records, kind: str = "") -> Iterator[Row]:
    """Every row of every record of a kind: the panel's own, ``selection`` or ``ablation``."""
    for name in EVERY_SET:
        yield from read_rows(name, records.read(_group(kind, name)))


def _group(kind: str, inliers: str) -> str:
    return f"{kind}-{inliers}" if kind else inliers


def _report(run: PanelRun, only: Sequence[str] | None, results: Results) -> Report:
    result = results["run"]
    rows = rows_of_scores(
        run.inliers,
        sections_of(result),
        panel_scores(result, only),
        posterior=run.configuration.posterior,
        recommended_score=None,
        seed=run.seed,
    )
    return Report(to_record(rows))


def _scoring() -> dict[str, Any]:
    """What the numbers depend on beside the run."""
    return {
        "scores": list(PANEL_SCORES),
        "fusions": {
            name: {
                "of": each.of,
                "depth": each.depth,
                "leading": list(each.led),
                "weighed": list(each.weighed),
            }
            for name, each in FUSIONS.items()
        },
        "fused_of_draws": list(Fused.PARTS),
        "false_discovery_rate": FALSE_DISCOVERY_RATE,
        "mixes": MIX,
    }
