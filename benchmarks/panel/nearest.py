"""Plain nearest neighbours: the detector a reader would try first, on the very images of the panel.

The score of an image is its Euclidean distance to the 5th nearest training image, on the 64 leading
principal components of the pixels. No network is trained. Training, calibration, test images and the mixes
for Benjamini–Hochberg are those that every other score of the panel has with the same seed.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors

from benchmarks.panel.inputs import Inputs, Sizes, load_inputs
from benchmarks.panel.power import FALSE_DISCOVERY_RATE, MIX
from benchmarks.panel.rows import BASELINE, NO_MODEL, rows_of_scores, to_record
from benchmarks.panel.sets import InlierSet
from benchmarks.panel.tasks import panel_sizes
from benchmarks.progress import WorkProgress
from benchmarks.records import Record, Records

__all__ = ["NEAREST", "NearestNeighbour", "measure_nearest", "neighbour_distances"]

NEAREST = "nearest-neighbour"
"""What rows call the score."""


@dataclass(frozen=True)
class NearestNeighbour:
    """The settings: which neighbour's distance is the score, and in how many dimensions it is measured."""

    neighbour: int = 5
    components: int = 64
    """Principal components of the pixels in [0, 1], neither scaled nor whitened; of few images, fewer."""


def measure_nearest(
    records: Records, inliers: Sequence[InlierSet], seeds: Sequence[int], *, console: Console
) -> None:
    """Measure on the CPU what has no record yet, and write each record as soon as it is measured."""
    sizes, method, name = panel_sizes(quick=records.quick), NearestNeighbour(), BASELINE + NEAREST
    settings = {
        "method": asdict(method),
        "sizes": asdict(sizes),
        "purpose": "test",
        "false_discovery_rate": FALSE_DISCOVERY_RATE,
        "mixes": MIX,
    }
    tasks = [
        (each, seed)
        for seed, each in itertools.product(seeds, inliers)
        if records.find(each.name, name, seed, settings) is None
    ]
    with WorkProgress(console, sum(_work(each, sizes) for each, _ in tasks)) as progress:
        for each, seed in tasks:
            label = f"{each.name}, {NEAREST}, seed {seed}"
            progress.begin(label)
            began = time.perf_counter()
            inputs = load_inputs(each, sizes, seed=seed)
            loaded = time.perf_counter()
            distances = neighbour_distances(method, inputs)
            seconds = {"loading": loaded - began, "distances": time.perf_counter() - loaded}
            rows = rows_of_scores(
                each,
                inputs.sections,
                {NEAREST: distances},
                posterior=NO_MODEL,
                recommended_score=None,
                seed=seed,
            )
            records.add(
                each.name, Record(name, seed, settings, to_record(rows), seconds, quick=records.quick)
            )
            progress.finish(_work(each, sizes), f"{label}: {seconds['distances']:.1f} s")


def _work(inliers: InlierSet, sizes: Sizes) -> float:
    """How many pairs of images are compared, for the progress bar."""
    return float(sizes.training_size(inliers, "test") * sizes.scored(inliers, "test"))


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
