"""From arrays to what the networks read: channels first, and pixels as numbers in [0, 1]."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

__all__ = ["by_place", "channels_last", "occluded", "to_tensor", "unit_scale"]

PATCHES = 8  # along each side of a picture, at most: so 64 pictures more show what each patch does


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


def occluded(x: Tensor) -> tuple[Tensor, NDArray[np.intp]]:
    """An input without each of its P places in turn, (P, *S), and the place of each column or pixel.

    Of a standardised row (D,) every column is a place, (D,), and is set to its mean, 0. Of a picture
    (C, H, W) the places are the patches of a grid of at most 8 × 8, (H, W), each set to the picture's mean
    colour.
    """
    if x.ndim == 1:
        return x.repeat(len(x), 1).fill_diagonal_(0), np.arange(len(x))
    height, width = x.shape[1:]
    rows, columns = (np.arange(side) * min(side, PATCHES) // side for side in (height, width))
    places = rows[:, None] * (columns[-1] + 1) + columns
    mean = x.double().mean((1, 2))
    colour = (mean.round() if x.dtype == torch.uint8 else mean).to(x.dtype)[:, None, None]
    without = [torch.where(torch.from_numpy(places == place), colour, x) for place in range(places.max() + 1)]
    return torch.stack(without), places


def unit_scale(batch: Tensor) -> Tensor:
    """uint8 pixels to float32 in [0, 1]; floats as they are."""
    return batch.to(torch.float32).div_(255) if batch.dtype == torch.uint8 else batch
