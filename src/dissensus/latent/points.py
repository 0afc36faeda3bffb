"""Latent points: the one place where they are checked."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dissensus.errors import DataError

__all__ = ["checked_points"]


def checked_points(points: ArrayLike, what: str = "z") -> NDArray[np.float64]:
    """Points (n, Z) in float64, all finite."""
    values = np.asarray(points, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] == 0:
        raise DataError(f"{what} must be of shape (points, dimensions), not {values.shape}")
    if not np.isfinite(values).all():
        row = int((~np.isfinite(values)).any(axis=1).argmax())
        raise DataError(f"{what}: row {row} is not finite; leave it out")
    return values
