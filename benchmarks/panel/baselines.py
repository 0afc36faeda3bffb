"""The simple baselines on the very images of the panel: same training, calibration, test images and mixes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from types import MappingProxyType
from typing import Any

from rich.console import Console

from benchmarks.baselines.detectors import (
    Baseline,
    FloatArray,
    GaussianMixture,
    IsolationForest,
    NearestNeighbour,
)
from benchmarks.baselines.measure import Split, Task, baseline_tasks, measure, pictures
from benchmarks.decimals import short
from benchmarks.grids import Grid, quick_title
from benchmarks.panel.inputs import Purpose, Sizes, load_inputs
from benchmarks.panel.power import FALSE_DISCOVERY_RATE, MIX
from benchmarks.panel.rows import NO_MODEL, rows_of_scores, to_record
from benchmarks.panel.sets import INLIER_SETS, InlierSet
from benchmarks.panel.tasks import all_rows, panel_sizes
from benchmarks.records import Records
from dissensus.errors import SettingsError

__all__ = ["CANDIDATES", "RULE", "SELECTION", "candidate_grids", "measure_panel", "select_candidates"]

SELECTION = "baseline-selection"
"""What groups of candidates' records begin with, apart from what was measured on test images."""

CANDIDATES: Mapping[str, Baseline] = MappingProxyType(
    {
        "nearest-neighbour": NearestNeighbour(components=64),
        "nearest-neighbour, 64 whitened": NearestNeighbour(components=64, whiten=True),
        "nearest-neighbour, 256": NearestNeighbour(components=256),
        "nearest-neighbour, 256 whitened": NearestNeighbour(components=256, whiten=True),
        "gaussian-mixture": GaussianMixture(components=64),
        "gaussian-mixture, 256": GaussianMixture(components=256),
        "isolation-forest": IsolationForest(components=None),
        "isolation-forest, 64": IsolationForest(components=64),
    }
)
"""What the baselines' settings were chosen among."""
SELECTED_ON = Sizes(training=20_000, fitting=0, fusing=0, calibration=1_000, inliers=2_000, outliers=500)
"""How many images candidates are compared on: enough for the second decimal, which is all that is asked."""
RULE = (
    "of each baseline, the highest mean AUROC over made-up outliers of training images, four datasets, seed "
    "0; no test image is read"
)


def measure_panel(
    records: Records, inliers: Sequence[InlierSet], seeds: Sequence[int], *, console: Console
) -> None:
    """Measure every baseline on test images that has no record yet, beside the panel's other records."""
    sizes = panel_sizes(quick=records.quick)
    tasks = baseline_tasks([each.name for each in inliers], seeds, _chosen(sizes, "test"))
    measure(records, tasks, lambda group, seed: _split(group, seed, sizes, "test"), console)


def select_candidates(
    records: Records, inliers: Sequence[InlierSet], seeds: Sequence[int], *, console: Console
) -> None:
    """Measure every candidate that has no record yet, on training images alone."""
    if any(each.held_out for each in inliers):
        raise SettingsError("candidates are compared on whole datasets; leave the held-out classes out")
    sizes = panel_sizes(quick=True) if records.quick else SELECTED_ON
    tasks = [
        Task(f"{SELECTION}-{each.name}", name, candidate, seed, _chosen(sizes, "selection"))
        for seed, each, (name, candidate) in itertools.product(seeds, inliers, CANDIDATES.items())
    ]
    measure(records, tasks, lambda group, seed: _split(group, seed, sizes, "selection"), console)


def candidate_grids(records: Records) -> list[Grid]:
    """What :data:`RULE` compares."""
    found: dict[str, list[float]] = {}
    for row in all_rows(records, SELECTION):
        found.setdefault(row.score, []).append(row.auroc)
    lines = [(name, short(fmean(found[name])), str(len(found[name]))) for name in CANDIDATES if name in found]
    title = quick_title("Candidates for the simple baselines", records.quick)
    return [Grid(title, ("", "mean AUROC", "pairs"), tuple(lines))] if lines else []


def _chosen(sizes: Sizes, purpose: Purpose) -> dict[str, Any]:
    """What rows depend on beside the baseline and the seed."""
    return {
        "sizes": sizes.described(purpose),
        "purpose": purpose,
        "false_discovery_rate": FALSE_DISCOVERY_RATE,
        "mixes": MIX,
    }


def _split(group: str, seed: int, sizes: Sizes, purpose: Purpose) -> Split:
    inliers = INLIER_SETS[group.removeprefix(f"{SELECTION}-")]
    inputs = load_inputs(inliers, replace(sizes, made_up=0), seed=seed, purpose=purpose)
    scored = pictures(inputs.scored)

    def rows(baseline: str, scores: FloatArray) -> list[dict[str, Any]]:
        found = rows_of_scores(
            inliers,
            inputs.sections,
            {baseline: scores},
            posterior=NO_MODEL,
            recommended_score=None,
            seed=seed,
        )
        return to_record(found)

    return Split(pictures(inputs.training), scored[inputs.sections["fusing"]], scored, rows)
