"""The distance to where a standard normal keeps its mass."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dissensus.latent.points import checked_points

__all__ = ["annulus"]


def annulus(z: ArrayLike) -> NDArray[np.float64]:
    r"""The distance :math:`| \lVert z \rVert - \sqrt{d - 1} |` to the prior's annulus: (n, Z) → (n,).

    The norm of z ~ N(0, I_d) has its mode at √(d − 1), and in high dimension hardly leaves it (Alperstein et
    al. 2019).

    >>> annulus([[3.0, 4.0], [1.0, 0.0]])
    array([4., 0.])
    """
    points = checked_points(z)
    distance: NDArray[np.float64] = np.abs(np.linalg.norm(points, axis=1) - math.sqrt(points.shape[1] - 1))
    return distance
