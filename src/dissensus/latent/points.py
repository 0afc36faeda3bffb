"""Latent points: the one place where they are checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from dissensus.errors import DataError

__all__ = ["checked_points", "list_of_size", "points_of_size"]


def checked_points(points: Any, what: str = "z") -> Tensor:
    """Points (n, Z) in float64, all finite; the gradient of a tensor goes on."""
    values = _as_tensor(points, what).double()
    if values.ndim != 2 or values.shape[1] == 0:
        raise DataError(f"{what} must be of shape (points, dimensions), not {tuple(values.shape)}")
    _refuse_not_finite(values, what)
    return values


def points_of_size(z: Any, size: int) -> Tensor:
    """Points (..., Z) of a latent space of Z = ``size`` dimensions, all finite, in a type of fractions."""
    values = _as_tensor(z, "z")
    if values.ndim == 0 or values.shape[-1] != size:
        raise DataError(
            f"z must be of shape (points, {size}), for the latent space has {size} dimensions, and its shape "
            f"is {tuple(values.shape)}"
        )
    values = values if values.is_floating_point() else values.float()
    _refuse_not_finite(values.reshape(-1, size), "z")
    return values


def list_of_size(z: Any, size: int) -> Tensor:
    """Points (n, Z) of such a space, all finite."""
    points = points_of_size(z, size)
    if points.ndim != 2:
        raise DataError(f"z must be of shape (points, {size}), not {tuple(points.shape)}")
    return points


def _as_tensor(points: Any, what: str) -> Tensor:
    if isinstance(points, Tensor):
        return points
    try:
        return torch.as_tensor(np.asarray(points, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise DataError(f"{what} must be a tensor or an array of numbers, (points, dimensions)") from error


def _refuse_not_finite(values: Tensor, what: str) -> None:
    finite = values.detach().isfinite().all(dim=1)
    if not finite.all():
        row = int((~finite).int().argmax())
        raise DataError(f"{what}: row {row} is not finite; leave it out")
