"""Selection sets: inliers and outliers made of training images alone; no test image and no label is read.

Two clusters of the training images are left out of the fit, and stand in for classes that nobody has seen.
Beside them outliers are made up of training images that the fit has not seen either.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.clusters import cluster_labels
from dissensus.inputs import MADE_UP, load_dataset, make_up
from dissensus.seeding import numpy_stream

__all__ = ["LEFT_OUT", "SelectionSet", "selection_set"]

LEFT_OUT = "clusters left out"


@dataclass(frozen=True)
class SelectionSet:
    """Training images in three roles, uint8 (n, H, W) or (n, H, W, C)."""

    fitted: NDArray[np.uint8]
    inliers: NDArray[np.uint8]
    outliers: dict[str, NDArray[np.uint8]]
    """By kind."""


def selection_set(
    dataset: str, pair: tuple[int, int], *, fitted: int, inliers: int, outliers: int, seed: int
) -> SelectionSet:
    """So many images to fit on, as many inliers, and outliers of each kind; none is in two roles."""
    images, labels = load_dataset(dataset, "train", download=False).images, cluster_labels(dataset)
    order = numpy_stream(seed, "frontier").permutation(len(images))
    left_out = np.isin(labels[order], pair)
    kept, away = order[~left_out], order[left_out]
    parts = np.split(kept, np.cumsum([fitted, inliers] + [outliers] * len(MADE_UP)))
    made = {kind: make_up(kind, images[own], seed) for kind, own in zip(MADE_UP, parts[2:], strict=False)}
    return SelectionSet(images[parts[0]], images[parts[1]], {LEFT_OUT: images[away[:outliers]], **made})
