"""What the demonstration does: one detector with its defaults is asked about ten kinds of outlier."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dissensus.defaults import THOROUGH
from dissensus.demo.neighbours import NEIGHBOURS, neighbour_distances
from dissensus.detector import BayesianVAE, OnProgress
from dissensus.detector.sampling import expected_sampler
from dissensus.inputs import MADE_UP, digits, load_sample, make_up
from dissensus.seeding import numpy_stream

__all__ = ["Demo", "demo_detector", "run_demo", "scoring_work"]

TRAINING = 6000
INLIERS = 300
OUTLIERS = 100  # of each kind: a score takes 320 decodings an input, and all must be done within minutes
SETTINGS: Mapping[str, Any] = MappingProxyType({"effort": THOROUGH})
"""The detector's own defaults, but thorough: beside it are shown the paper's scores, which take that."""


@dataclass(frozen=True)
class Demo:
    """A fitted detector, what it was asked about, and the statistics (n,) it answered with, by name."""

    gate: BayesianVAE
    training: int
    """How many images it was fitted on."""
    inliers: NDArray[np.uint8]
    outliers: Mapping[str, NDArray[np.uint8]]
    inlier_statistics: Mapping[str, NDArray[np.float64]]
    outlier_statistics: Mapping[str, Mapping[str, NDArray[np.float64]]]
    seconds: Mapping[str, float]

    def scores(self, name: str) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]:
        """The named score of the inliers (n,), and of each kind of outlier."""
        found = {kind: statistics[name] for kind, statistics in self.outlier_statistics.items()}
        return self.inlier_statistics[name], found


def demo_detector(seed: int = 0) -> BayesianVAE:
    """The detector that is shown."""
    return BayesianVAE(random_state=seed, **SETTINGS)


def run_demo(
    gate: BayesianVAE, *, checkpoint: str | Path | None = None, on_progress: OnProgress | None = None
) -> Demo:
    """Fits on clothes, then asks about unseen clothes, handwritten digits and made-up outliers."""
    train, test = load_sample()
    began = time.perf_counter()
    clothes = train.images[:TRAINING]
    gate.fit(clothes, checkpoint=checkpoint, on_progress=on_progress)
    fitted = time.perf_counter()

    inliers = test.images[:INLIERS]
    outliers = _outliers(test.images[INLIERS : INLIERS + OUTLIERS], gate.seed_)
    everything = np.concatenate([inliers, *outliers.values()])
    statistics = gate.statistics(everything, on_progress=on_progress)
    statistics[NEIGHBOURS] = neighbour_distances(clothes, everything)
    ends = np.cumsum([len(inliers), *map(len, outliers.values())])
    own, *others = (
        {name: values[start:end] for name, values in statistics.items()}
        for start, end in zip([0, *ends], ends, strict=False)
    )
    seconds = {"fitting": fitted - began, "scoring": time.perf_counter() - fitted}
    return Demo(
        gate,
        len(clothes),
        inliers,
        outliers,
        own,
        dict(zip(outliers, others, strict=True)),
        seconds,
    )


def scoring_work(gate: BayesianVAE) -> float:
    """How many decodings the questions take."""
    return float(
        (INLIERS + OUTLIERS * (1 + len(MADE_UP))) * expected_sampler(gate, rows=False).draws * gate.samples
    )


def _outliers(images: NDArray[np.uint8], seed: int) -> dict[str, NDArray[np.uint8]]:
    """Each kind, made from images that neither the detector nor the inliers' scores have seen."""
    every = digits()
    chosen = numpy_stream(seed, "demo digits").permutation(len(every))[:OUTLIERS]
    return {"digits": every[chosen]} | {kind: make_up(kind, images, seed) for kind in MADE_UP}
