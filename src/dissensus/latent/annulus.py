"""The distance to where a standard normal keeps its mass."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from dissensus.latent.points import checked_points

__all__ = ["annulus"]


def annulus(z: Any) -> Tensor:
    r"""The distance :math:`| \lVert z \rVert - \sqrt{d - 1} |` to the prior's annulus: (n, Z) → (n,) float64.

    The norm of z ~ N(0, I_d) has its mode at √(d − 1), and in high dimension hardly leaves it (Alperstein et
    al. 2019).

    >>> annulus([[3.0, 4.0], [1.0, 0.0]])
    tensor([4., 0.], dtype=torch.float64)
    """
    points = checked_points(z)
    distance: Tensor = torch.linalg.vector_norm(points, dim=1) - math.sqrt(points.shape[1] - 1)
    return distance.abs()
