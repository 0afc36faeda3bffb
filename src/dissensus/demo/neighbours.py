"""What five lines without any model find, to stand beside the detector."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors

__all__ = ["NEIGHBOURS", "neighbour_distances"]

NEIGHBOURS = "neighbours"
NUMBER, COMPONENTS = 5, 64


def neighbour_distances(training: NDArray[np.uint8], images: NDArray[np.uint8]) -> NDArray[np.float64]:
    """The distance (n,) of images to the 5th nearest training image on 64 principal components of pixels."""
    learnt, asked = (part.reshape(len(part), -1) / 255 for part in (training, images))
    axes = PCA(COMPONENTS, svd_solver="covariance_eigh").fit(learnt)
    found = NearestNeighbors(n_neighbors=NUMBER).fit(axes.transform(learnt))
    distances: NDArray[np.float64] = found.kneighbors(axes.transform(asked))[0][:, -1]
    return distances
