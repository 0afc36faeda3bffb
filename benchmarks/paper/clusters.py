"""Held-out classes made of training images alone: clusters stand in for classes, and two are left out.

What is chosen here may be measured on the five splits of the held-out classes afterwards: neither a test
image nor a label is read. Clusters are of the whole training file, whose every class is known in four of the
five splits.
"""

from __future__ import annotations

import numpy as np
import torch

from benchmarks.clusters import cluster_labels
from benchmarks.paper.benchmarks import Inputs, Sizes
from dissensus.errors import DataError
from dissensus.inputs import load_dataset
from dissensus.models.inputs import to_tensor
from dissensus.seeding import numpy_stream

__all__ = ["DATASET", "FULL", "QUICK", "load_clusters"]

DATASET = "fashion-mnist"

FULL = Sizes(training=None, test=1_000, validation=256, typical=0)
QUICK = Sizes(training=500, test=50, validation=50, typical=0)


def load_clusters(
    left_out: tuple[int, int], sizes: Sizes, *, seed: int, device: torch.device | str = "cpu"
) -> Inputs:
    """Training images of all other clusters; inliers are some set aside, outliers those of the two left out.

    As many of each are asked about. There are no images for a typicality test.
    """
    images = to_tensor(load_dataset(DATASET, "train").images)
    unknown = np.isin(cluster_labels(DATASET), left_out)
    stream = numpy_stream(seed, "paper", "clusters", *left_out)
    known, outside = (stream.permutation(np.flatnonzero(mask)) for mask in (~unknown, unknown))
    asked = min(sizes.test, len(outside))
    aside = asked + sizes.validation
    if len(known) <= aside:
        raise DataError(f"{len(known)} images are too few to set {aside} aside; use the whole dataset")
    inliers, validation, training = np.split(known, [asked, aside])
    parts = (training[: sizes.training], validation, training[:0], inliers, outside[:asked])
    return Inputs(*(images[torch.from_numpy(np.sort(rows))].to(device) for rows in parts))
