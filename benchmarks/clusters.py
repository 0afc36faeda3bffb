"""Classes made of training images alone: clusters stand in for classes, so that some can be left out.

What is chosen by them may be measured on held-out classes afterwards: neither a test image nor a label is
read.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from dissensus.inputs import load_dataset

__all__ = ["CLUSTERS", "PAIRS", "cluster_labels"]

CLUSTERS = 10  # as many as there are classes
COMPONENTS = 64
PAIRS = ((0, 1), (4, 5), (8, 9))
"""Clusters that are left out together, numbered by size: two large ones, two middling, two small."""


@cache
def cluster_labels(dataset: str, first: int | None = None) -> NDArray[np.int64]:
    """The cluster (N,) of every training image: k-means on principal components of the pixels, 0 the largest.

    With ``first`` there are only so many, the first. Components are simpler than a VAE's codes and the same
    for every candidate: no network decides what it is judged by.
    """
    from sklearn.cluster import KMeans
    from sklearn.decomposition import PCA

    images = load_dataset(dataset, "train").images[:first]
    pixels = images.reshape(len(images), -1).astype(np.float32) / 255
    size = min(COMPONENTS, len(images), pixels.shape[1])
    codes = PCA(size, svd_solver="covariance_eigh").fit_transform(pixels)
    found = KMeans(CLUSTERS, n_init=4, random_state=0).fit_predict(codes)
    by_size = np.argsort(-np.bincount(found, minlength=CLUSTERS), kind="stable")
    labels: NDArray[np.int64] = np.argsort(by_size)[found].astype(np.int64)
    return labels
