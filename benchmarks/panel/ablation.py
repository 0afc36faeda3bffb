"""One change at a time to the recommended detector: what each part of it is worth."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from benchmarks.decimals import short
from benchmarks.grids import Grid, quick_title
from benchmarks.panel.configuration import RECOMMENDED, Configuration
from benchmarks.panel.rows import NO_MODEL, Row
from benchmarks.panel.runs import PanelRun
from benchmarks.panel.sets import InlierSet
from benchmarks.panel.summary import at_same_places, summarise
from benchmarks.panel.table import summary_grid
from benchmarks.panel.tasks import all_rows, panel_sizes, panel_task
from benchmarks.records import Records
from benchmarks.runner import Task

__all__ = ["KIND", "UNCHANGED", "ablation_grids", "ablation_tasks", "ablations"]

KIND = "ablation"
UNCHANGED = "unchanged"
LEAST_CHAINS = 4  # are run, so that fewer can be taken from them
SHOWN_SCORES = ("ess", "std", "whitened", "mean-ll", "fused-images", "fused-draws")
"""Beside the recommended one."""


def ablations(base: Configuration) -> dict[str, dict[str, Configuration]]:
    """Every change, by what is changed and to what. Most share one training: fewer draws are fewer rows.

    The posterior is not among them: the panel itself compares all of them.
    """
    chains = base.chains
    per_chain = base.draws // chains
    fewer_chains = [c for c in (1, 2, 4, 8) if c <= chains]
    return {
        UNCHANGED: {"": base},
        "draws a chain": {str(d): replace(base, used_draws=d) for d in (1, 2, 5, 10, 20) if d <= per_chain},
        "chains": {str(c): replace(base, used_chains=c) for c in fewer_chains},
        f"chains, {per_chain} draws in all": {
            str(c): replace(base, used_chains=c, used_draws=per_chain // c)
            for c in fewer_chains
            if per_chain % c == 0
        },
        "importance samples": {str(K): replace(base, samples=K) for K in (1, 4, 16, 64)},
        "z-noise": {noise: replace(base, noise=noise) for noise in ("shared", "fresh")},
        "observation": {
            name: replace(base, observation=name)
            for name in ("bernoulli", "continuous-bernoulli", "gaussian", "discretised-logistic")
        },
    }


def ablation_tasks(inliers: Sequence[InlierSet], seeds: Sequence[int], *, quick: bool) -> list[Task]:
    """A record for each change, set and seed, called after the change: ``chains=2``."""
    chains = max(LEAST_CHAINS, RECOMMENDED.chains)
    base = replace(RECOMMENDED, chains=chains, draws=chains * (RECOMMENDED.draws // RECOMMENDED.chains))
    if quick:
        base = base.quick()
    return [
        panel_task(
            PanelRun(each, changed, panel_sizes(quick=quick), seed),
            f"{axis}={value}" if value else axis,
            kind=KIND,
        )
        for seed, each in itertools.product(seeds, inliers)
        for axis, values in ablations(base).items()
        for value, changed in values.items()
    ]


def ablation_grids(records: Records) -> list[Grid]:
    """For each in-distribution set a table of each change, and one of which score finds which outliers."""
    tables: dict[tuple[str, str], list[Row]] = defaultdict(list)
    shown = (RECOMMENDED.score, *SHOWN_SCORES)
    for row in all_rows(records, KIND):
        axis, _, value = row.posterior.partition("=")
        tables[row.inliers, axis].append(replace(row, posterior=value))
    baselines = [row for row in all_rows(records) if row.posterior == NO_MODEL]
    grids = []
    for (inliers, axis), rows in tables.items():
        beside = at_same_places(rows, baselines)
        if axis == UNCHANGED:
            title = quick_title(f"{inliers}: which score finds which outliers", records.quick)
            grids.append(_carriers(title, [*rows, *beside]))
            continue
        chosen = [row for row in rows if row.score in shown]
        order = list(dict.fromkeys(row.posterior for row in chosen))
        found = summarise([*chosen, *beside])
        summaries = [
            *sorted(
                (each for each in found if each.posterior != NO_MODEL),
                key=lambda each: (shown.index(each.score), _natural(each.posterior, order)),
            ),
            *(each for each in found if each.posterior == NO_MODEL),
        ]
        grids.append(summary_grid(quick_title(f"{inliers}: {axis}", records.quick), summaries, whole=True))
    return grids


def _carriers(title: str, rows: Sequence[Row]) -> Grid:
    """AUROC of every score by kind of outlier, the mean over seeds."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in rows:
        found[row.score, row.outliers].append(row.auroc)
    outliers = list(dict.fromkeys(kind for _, kind in found))
    scores = list(dict.fromkeys(score for score, _ in found))
    lines = [
        (score, *(short(fmean(own)) if (own := found.get((score, kind))) else "–" for kind in outliers))
        for score in scores
    ]
    return Grid(title, ("", *outliers), tuple(lines))


def _natural(value: str, order: Sequence[str]) -> tuple[int, int]:
    """Numbers by size, words in the order they came."""
    return (int(value), 0) if value.isdigit() else (0, order.index(value))
