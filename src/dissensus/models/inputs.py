"""From arrays to what the networks read: channels first, and pixels as numbers in [0, 1]."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

__all__ = ["by_place", "channels_last", "to_tensor", "unit_scale"]


def to_tensor(array: NDArray[Any]) -> Tensor:
    """Images (N, H, W, C), or grey ones (N, H, W), to (N, C, H, W); vectors (N, D) as they are.

    uint8 stays, the rest is float32.
    """
    if array.ndim == 3:
        array = array[..., None]
    if array.ndim == 4:
        array = array.transpose(0, 3, 1, 2)
    dtype = np.uint8 if array.dtype == np.uint8 else np.float32
    flat = torch.from_numpy(np.ascontiguousarray(array, dtype=dtype).reshape(-1))
    # Shaped by torch: NumPy's strides of axes of length 1 mean nothing, but torch chooses its kernels by
    # them, and other kernels round otherwise.
    return flat.view(array.shape)


def channels_last(batch: Tensor) -> Tensor:
    """Images (N, C, H, W) to (N, H, W, C), vectors (N, D) as they are: the inverse of :func:`to_tensor`."""
    return batch.permute(0, 2, 3, 1) if batch.ndim == 4 else batch


def by_place(terms: Tensor) -> Tensor:
    """Sum terms of images (N, C, H, W) to (N, H, W), for the channels of a pixel are one place."""
    return terms.sum(1) if terms.ndim == 4 else terms


def unit_scale(batch: Tensor) -> Tensor:
    """uint8 pixels to float32 in [0, 1]; floats as they are."""
    return batch.to(torch.float32).div_(255) if batch.dtype == torch.uint8 else batch
