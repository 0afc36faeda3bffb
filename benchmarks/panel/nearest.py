"""Plain nearest neighbours: the detector a reader would try first, on the very images of the panel.

The score of an image is its Euclidean distance to the 5th nearest training image, on the 64 leading
principal components of the pixels. No network is trained. Training, calibration, test images and the mixes
for Benjamini–Hochberg are those that every other score of the panel has with the same seed.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors

from benchmarks.kinds_of_records import refuse_other_kind
from benchmarks.panel.inputs import Inputs, Sizes, load_inputs
from benchmarks.panel.power import FALSE_DISCOVERY_RATE, MIX
from benchmarks.panel.rows import rows_of_scores
from benchmarks.panel.sets import InlierSet
from benchmarks.progress import WorkProgress
from dissensus.evaluation import environment, write_record

__all__ = [
    "FOLDER",
    "NEAREST",
    "WITHOUT_POSTERIOR",
    "NearestNeighbour",
    "NearestTask",
    "measure_nearest",
    "nearest_tasks",
    "neighbour_distances",
    "unmeasured_nearest",
]

FOLDER: Final = "baselines"
NEAREST = "nearest-neighbour"
"""What rows call the score."""
WITHOUT_POSTERIOR = "none"
"""What rows call the posterior of a detector that has none."""


@dataclass(frozen=True)
class NearestNeighbour:
    """The settings: which neighbour's distance is the score, and in how many dimensions it is measured."""

    neighbour: int = 5
    components: int = 64
    """Principal components of the pixels in [0, 1], neither scaled nor whitened; of few images, fewer."""


@dataclass(frozen=True)
class NearestTask:
    """A record to be made: one in-distribution set and one seed."""

    inliers: InlierSet
    sizes: Sizes
    seed: int
    method: NearestNeighbour = NearestNeighbour()

    @property
    def settings(self) -> dict[str, Any]:
        """Everything the numbers depend on beside the seed, as plain values."""
        return {
            "method": asdict(self.method),
            "sizes": asdict(self.sizes),
            "purpose": "test",
            "false_discovery_rate": FALSE_DISCOVERY_RATE,
            "mixes": MIX,
        }

    @property
    def digest(self) -> str:
        """A short name of the settings."""
        return hashlib.sha256(json.dumps(self.settings, sort_keys=True).encode()).hexdigest()[:12]

    @property
    def work(self) -> float:
        """How many pairs of images are compared, for the progress bar."""
        return float(self.sizes.training_size(self.inliers, "test") * self.sizes.scored(self.inliers, "test"))

    def path(self, output: Path) -> Path:
        """Where the record is."""
        return output / FOLDER / self.inliers.name / f"{NEAREST}-seed{self.seed}.json"


def nearest_tasks(inliers: Sequence[InlierSet], seeds: Sequence[int], *, sizes: Sizes) -> list[NearestTask]:
    """A record for each set and seed; a whole seed before the next."""
    return [NearestTask(each, sizes, seed) for seed, each in itertools.product(seeds, inliers)]


def unmeasured_nearest(output: Path, tasks: Sequence[NearestTask], *, quick: bool) -> list[NearestTask]:
    """Return the tasks whose record is missing, cannot be read, or was made with other settings."""
    refuse_other_kind(output, FOLDER, quick=quick)
    return [task for task in tasks if not _is_measured(output, task)]


def measure_nearest(output: Path, tasks: Sequence[NearestTask], *, quick: bool, console: Console) -> None:
    """Carry out the tasks on the CPU and write each record as soon as it is measured."""
    with WorkProgress(console, sum(task.work for task in tasks)) as progress:
        for task in tasks:
            label = f"{task.inliers.name}, {NEAREST}, seed {task.seed}"
            progress.begin(label)
            began = time.perf_counter()
            inputs = load_inputs(task.inliers, task.sizes, seed=task.seed)
            loaded = time.perf_counter()
            distances = neighbour_distances(task.method, inputs)
            seconds = {"loading": loaded - began, "distances": time.perf_counter() - loaded}
            _write(output, task, inputs, distances, seconds, quick=quick)
            progress.finish(task.work, f"{label}: {seconds['distances']:.1f} s")


def neighbour_distances(method: NearestNeighbour, inputs: Inputs) -> NDArray[np.float64]:
    """Return the distance (N,) of every scored image to its k-th nearest training image."""
    training, scored = _pixels(inputs.training), _pixels(inputs.scored)
    components = min(method.components, *training.shape)
    # The exact components, without chance, and without a second copy of the images.
    principal = PCA(components, svd_solver="covariance_eigh").fit(training)
    neighbours = NearestNeighbors(n_neighbors=method.neighbour, algorithm="brute")
    neighbours.fit(principal.transform(training))
    distances, _ = neighbours.kneighbors(principal.transform(scored))
    return np.asarray(distances[:, -1], dtype=np.float64)


def _pixels(images: torch.Tensor) -> NDArray[np.float32]:
    """Images (N, C, H, W) of uint8 as rows (N, D) in [0, 1]."""
    return images.flatten(1).cpu().numpy().astype(np.float32) / np.float32(255)


def _is_measured(output: Path, task: NearestTask) -> bool:
    try:
        record = json.loads(task.path(output).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(record.get("digest") == task.digest)


def _write(
    output: Path,
    task: NearestTask,
    inputs: Inputs,
    distances: NDArray[np.float64],
    seconds: dict[str, float],
    *,
    quick: bool,
) -> None:
    rows = rows_of_scores(
        task.inliers,
        inputs.sections,
        {NEAREST: distances},
        posterior=WITHOUT_POSTERIOR,
        recommended_score=None,
        seed=task.seed,
    )
    write_record(
        task.path(output),
        {
            "inliers": task.inliers.name,
            "posterior": WITHOUT_POSTERIOR,
            "seed": task.seed,
            "quick": quick,
            "recommended_score": None,
            "digest": task.digest,
            "settings": task.settings,
            "training_images": len(inputs.training),
            "seconds": seconds,
            "environment": environment(),
            "rows": [asdict(row) for row in rows],
        },
    )
