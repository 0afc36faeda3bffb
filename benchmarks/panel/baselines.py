"""The simple baselines on the very images of the panel: same training, calibration, test images and mixes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
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
from benchmarks.panel.sets import INLIER_SETS, InlierSet, kind_of
from benchmarks.records import Records
from dissensus.errors import SettingsError

__all__ = [
    "CANDIDATES",
    "MEASURED",
    "NO_MODEL",
    "RULE",
    "SELECTION",
    "baseline_rows",
    "measure_panel",
    "select_candidates",
]

NO_MODEL = "no model"
"""What rows call the posterior of a detector that has none."""
MEASURED = ("auroc", "fpr80_in", "fpr95_in", "bh_power", "bh_false", "n_in", "n_out")
"""The columns of numbers."""
SELECTION = "baseline-selection-"
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
    records: Records, inliers: Sequence[InlierSet], seeds: Sequence[int], *, sizes: Sizes, console: Console
) -> None:
    """Measure every baseline on test images that has no record yet, beside the panel's other records."""
    tasks = baseline_tasks([each.name for each in inliers], seeds, _chosen(sizes, "test"))
    measure(records, tasks, lambda group, seed: _split(group, seed, sizes, "test"), console)


def select_candidates(
    records: Records, inliers: Sequence[InlierSet], seeds: Sequence[int], *, sizes: Sizes, console: Console
) -> None:
    """Measure every candidate on training images alone, and print what :data:`RULE` compares.

    ``sizes`` are those of a quick comparison; a full one has :data:`SELECTED_ON`.
    """
    if any(each.held_out for each in inliers):
        raise SettingsError("candidates are compared on whole datasets; leave the held-out classes out")
    sizes = sizes if records.quick else SELECTED_ON
    tasks = [
        Task(SELECTION + each.name, name, candidate, seed, _chosen(sizes, "selection"))
        for seed, each, (name, candidate) in itertools.product(seeds, inliers, CANDIDATES.items())
    ]
    measure(records, tasks, lambda group, seed: _split(group, seed, sizes, "selection"), console)
    found: dict[str, list[float]] = {}
    for row in baseline_rows(records, SELECTION):
        found.setdefault(row.score, []).append(row.auroc)
    for name in CANDIDATES:
        if name in found:
            console.print(f"{name}: {fmean(found[name]):.3f} over {len(found[name])} pairs", highlight=False)
    console.print(f"The rule: {RULE}.", highlight=False)


def baseline_rows(records: Records, kind: str = "") -> Iterator[Row]:
    """Every row of every baseline that was measured; ``score`` is the baseline's name.

    With :data:`SELECTION` as ``kind``, those of the candidates on training images.
    """
    for name, inliers in INLIER_SETS.items():
        for record in records.read(kind + name):
            if record.name.startswith(PREFIX):
                for row in record.rows:
                    yield Row(
                        inliers=name,
                        outliers=row["outliers"],
                        kind=kind_of(inliers, row["outliers"]),
                        posterior=NO_MODEL,
                        score=row["score"],
                        recommended=False,
                        seed=record.seed or 0,
                        **{column: row[column] for column in MEASURED},
                    )


def _chosen(sizes: Sizes, purpose: Purpose) -> dict[str, Any]:
    """What rows depend on beside the baseline and the seed."""
    return {
        "sizes": asdict(sizes),
        "purpose": purpose,
        "false_discovery_rate": FALSE_DISCOVERY_RATE,
        "mixes": MIX,
    }


def _split(group: str, seed: int, sizes: Sizes, purpose: Purpose) -> Split:
    inliers = INLIER_SETS[group.removeprefix(SELECTION)]
    inputs = load_inputs(inliers, sizes, seed=seed, purpose=purpose)
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
        # The other columns are told by the record itself.
        return [{name: getattr(row, name) for name in ("outliers", "score", *MEASURED)} for row in found]

    return Split(pictures(inputs.training), scored[inputs.sections["fusing"]], scored, rows)
