"""The scores that are split: of clothes that the fit has not seen, and of handwritten digits."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dissensus.defaults import THOROUGH
from dissensus.detector import BayesianVAE, Detector, OnProgress
from dissensus.inputs import digits, load_sample
from dissensus.seeding import numpy_stream

__all__ = ["SampleScores", "fitted_detector", "sample_scores"]

OUTLIERS = 500


class SampleScores(NamedTuple):
    """Higher = more unusual."""

    inliers: NDArray[np.float64]
    """Of the calibration inputs, then of the test images."""
    outliers: NDArray[np.float64]


def fitted_detector(gate: Path | None, *, seed: int, on_progress: OnProgress | None = None) -> Detector:
    """The one saved in ``gate``, or one with the defaults, asked thoroughly, fitted on clothes."""
    if gate is not None:
        return Detector.load(gate)
    train, _ = load_sample()
    return BayesianVAE(random_state=seed, effort=THOROUGH).fit(train.images, on_progress=on_progress)


def sample_scores(detector: Detector, *, on_progress: OnProgress | None = None) -> SampleScores:
    """Scores of all inliers that the draws have not seen, and of digits."""
    _, test = load_sample()
    every = digits()
    chosen = every[numpy_stream(detector.seed_, "guarantees").permutation(len(every))[:OUTLIERS]]
    scores = detector.decide(np.concatenate([test.images, chosen]), on_progress=on_progress).score
    unseen, outliers = np.split(scores, [len(test.images)])
    return SampleScores(np.concatenate([detector.calibration_scores_, unseen]), outliers)
