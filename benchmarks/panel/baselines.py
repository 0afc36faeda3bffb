"""The simple baselines on the very images of the panel: same training, calibration, test images and mixes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
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
from benchmarks.baselines.measure import PREFIX, Split, Task, baseline_tasks, measure, pictures
from benchmarks.panel.inputs import Purpose, Sizes, load_inputs
from benchmarks.panel.power import FALSE_DISCOVERY_RATE, MIX
from benchmarks.panel.rows import Row, rows_of_scores
from benchmarks.panel.sets import INLIER_SETS, InlierSet
from benchmarks.records import Records
from dissensus.errors import SettingsError

__all__ = ["CANDIDATES", "RULE", "WITHOUT_POSTERIOR", "baseline_rows", "measure_panel", "select_candidates"]

WITHOUT_POSTERIOR = "none"
"""What rows call the posterior of a detector that has none."""
SELECTION = "baseline-selection"
"""The folder of the candidates' records, apart from what was measured on test images."""

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
    output: Path,
    inliers: Sequence[InlierSet],
    seeds: Sequence[int],
    *,
    sizes: Sizes,
    quick: bool,
    console: Console,
) -> None:
    """Measure every baseline on test images, beside the panel's other records."""
    tasks = baseline_tasks([each.name for each in inliers], seeds, _chosen(sizes, "test"))
    measure(
        Records(output, quick=quick), tasks, lambda name, seed: _split(name, seed, sizes, "test"), console
    )


def select_candidates(
    output: Path,
    inliers: Sequence[InlierSet],
    seeds: Sequence[int],
    *,
    sizes: Sizes,
    quick: bool,
    console: Console,
) -> None:
    """Measure every candidate on training images alone, and print what :data:`RULE` compares.

    ``sizes`` are those of a quick comparison; a full one has :data:`SELECTED_ON`.
    """
    if any(each.held_out for each in inliers):
        raise SettingsError("candidates are compared on whole datasets; leave the held-out classes out")
    sizes = sizes if quick else SELECTED_ON
    records = Records(output / SELECTION, quick=quick)
    tasks = [
        Task(each.name, name, candidate, seed, _chosen(sizes, "selection"))
        for seed, each, (name, candidate) in itertools.product(seeds, inliers, CANDIDATES.items())
    ]
    measure(records, tasks, lambda name, seed: _split(name, seed, sizes, "selection"), console)
    found: dict[str, list[float]] = {}
    for row in baseline_rows(records):
        found.setdefault(row.score, []).append(row.auroc)
    for name in CANDIDATES:
        if name in found:
            console.print(f"{name}: {fmean(found[name]):.3f} over {len(found[name])} pairs", highlight=False)
    console.print(f"The rule: {RULE}.", highlight=False)


def baseline_rows(records: Records) -> list[Row]:
    """Every row of every baseline that was measured; ``score`` is the baseline's name."""
    return [
        Row(**row) for _, record in records.all() if record.name.startswith(PREFIX) for row in record.rows
    ]


def _chosen(sizes: Sizes, purpose: Purpose) -> dict[str, Any]:
    """What rows depend on beside the baseline and the seed."""
    return {
        "sizes": asdict(sizes),
        "purpose": purpose,
        "false_discovery_rate": FALSE_DISCOVERY_RATE,
        "mixes": MIX,
    }


def _split(name: str, seed: int, sizes: Sizes, purpose: Purpose) -> Split:
    inliers = INLIER_SETS[name]
    inputs = load_inputs(inliers, sizes, seed=seed, purpose=purpose)
    scored = pictures(inputs.scored)

    def rows(baseline: str, scores: FloatArray) -> list[dict[str, Any]]:
        found = rows_of_scores(
            inliers,
            inputs.sections,
            {baseline: scores},
            posterior=WITHOUT_POSTERIOR,
            recommended_score=None,
            seed=seed,
        )
        return [asdict(row) for row in found]

    return Split(pictures(inputs.training), scored[inputs.sections["fusing"]], scored, rows)
