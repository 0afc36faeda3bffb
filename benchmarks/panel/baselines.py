"""The simple baselines on the very images of the panel: same training, calibration, test images and mixes."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from types import MappingProxyType
from typing import Any

from rich.console import Console

from benchmarks.baselines import (
    BASELINES,
    Baseline,
    GaussianMixture,
    IsolationForest,
    NearestNeighbour,
    baseline_settings,
    pictures,
    score_by,
)
from benchmarks.panel.inputs import Inputs, Purpose, Sizes, load_inputs
from benchmarks.panel.power import FALSE_DISCOVERY_RATE, MIX
from benchmarks.panel.rows import Row, rows_of_scores
from benchmarks.panel.sets import InlierSet
from benchmarks.records import Record, Records

__all__ = [
    "CANDIDATES",
    "RULE",
    "WITHOUT_POSTERIOR",
    "BaselineTask",
    "baseline_rows",
    "baseline_tasks",
    "candidate_tasks",
    "measure_baselines",
    "measure_panel",
    "select_candidates",
]

WITHOUT_POSTERIOR = "none"
"""What rows call the posterior of a detector that has none."""
PREFIX = "baseline/"
"""What names of records begin with."""
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
RULE = (
    "of each baseline, the highest mean AUROC over made-up outliers of training images, four datasets, seed "
    "0; no test image is read"
)


@dataclass(frozen=True)
class BaselineTask:
    """A record to be made: one in-distribution set, one baseline and one seed."""

    inliers: InlierSet
    name: str
    baseline: Baseline
    sizes: Sizes
    seed: int
    purpose: Purpose = "test"

    @property
    def settings(self) -> dict[str, Any]:
        """Everything the numbers depend on beside the seed, as plain values."""
        return {
            "baseline": baseline_settings(self.baseline),
            "sizes": asdict(self.sizes),
            "purpose": self.purpose,
            "false_discovery_rate": FALSE_DISCOVERY_RATE,
            "mixes": MIX,
        }

    @property
    def title(self) -> str:
        """The name of its record."""
        return PREFIX + self.name

    @property
    def label(self) -> str:
        """For people who wait."""
        return f"{self.inliers.name}, {self.name}, seed {self.seed}"

    def is_measured(self, records: Records) -> bool:
        """Whether there is a record of these very settings."""
        return records.find(self.inliers.name, self.title, self.seed, self.settings) is not None


def baseline_tasks(
    inliers: Sequence[InlierSet], names: Sequence[str], seeds: Sequence[int], *, sizes: Sizes
) -> list[BaselineTask]:
    """A record for each set, baseline and seed; a whole seed before the next."""
    return [
        BaselineTask(each, name, BASELINES[name], sizes, seed)
        for seed, each, name in itertools.product(seeds, inliers, names)
    ]


def candidate_tasks(
    inliers: Sequence[InlierSet], seeds: Sequence[int], *, sizes: Sizes
) -> list[BaselineTask]:
    """A record for each candidate, on images of the training set alone."""
    return [
        BaselineTask(each, name, candidate, sizes, seed, "selection")
        for seed, each, (name, candidate) in itertools.product(seeds, inliers, CANDIDATES.items())
    ]


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
    tasks = baseline_tasks(inliers, list(BASELINES), seeds, sizes=sizes)
    measure_baselines(Records(output, quick=quick), tasks, console)


def select_candidates(
    output: Path,
    inliers: Sequence[InlierSet],
    seeds: Sequence[int],
    *,
    sizes: Sizes,
    quick: bool,
    console: Console,
) -> None:
    """Measure every candidate on training images, and say which settings :data:`RULE` names."""
    records = Records(output / SELECTION, quick=quick)
    measure_baselines(records, candidate_tasks(inliers, seeds, sizes=sizes), console)
    means: dict[str, list[float]] = {}
    for row in baseline_rows(records):
        means.setdefault(row.score, []).append(row.auroc)
    for name in CANDIDATES:
        if name in means:
            console.print(f"{name}: {fmean(means[name]):.3f} over {len(means[name])} pairs", highlight=False)
    console.print(f"The rule: {RULE}.", highlight=False)


def measure_baselines(records: Records, tasks: Sequence[BaselineTask], console: Console) -> None:
    """Measure what has no record yet, on the CPU, and write each record at once.

    The images of a set and seed are read once for all baselines that are measured on them.
    """
    missing = [task for task in tasks if not task.is_measured(records)]
    for (each, seed), group in itertools.groupby(missing, key=lambda task: (task.inliers, task.seed)):
        own = list(group)
        began = time.perf_counter()
        inputs = load_inputs(each, own[0].sizes, seed=seed, purpose=own[0].purpose)
        loading = time.perf_counter() - began
        for task in own:
            record = _measured(task, inputs, loading, quick=records.quick)
            records.add(each.name, record)
            console.print(
                f"{task.label}: {record.seconds['fitting']:.1f} s fitting, "
                f"{record.seconds['scoring']:.1f} s scoring, "
                f"mean AUROC {fmean(row['auroc'] for row in record.rows):.3f}",
                highlight=False,
            )


def baseline_rows(records: Records) -> list[Row]:
    """Every row of every baseline that was measured; ``score`` is the baseline's name."""
    return [
        Row(**row) for _, record in records.all() if record.name.startswith(PREFIX) for row in record.rows
    ]


def _measured(task: BaselineTask, inputs: Inputs, loading: float, *, quick: bool) -> Record:
    scored = pictures(inputs.scored)
    scores, seconds = score_by(
        task.baseline,
        training=pictures(inputs.training),
        held_out=scored[inputs.sections["fusing"]],
        scored=scored,
        seed=task.seed,
    )
    rows = rows_of_scores(
        task.inliers,
        inputs.sections,
        {task.name: scores},
        posterior=WITHOUT_POSTERIOR,
        recommended_score=None,
        seed=task.seed,
    )
    return Record(
        task.title,
        task.seed,
        task.settings,
        [asdict(row) for row in rows],
        {"loading": loading, **seconds},
        about={"training_images": len(inputs.training)},
        quick=quick,
    )
