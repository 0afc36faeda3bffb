"""What pictures look like from afar: how light, and how rough, each of sixteen parts of them is.

Distances between pixels say little: of two photographs of grass no pixel is alike, and a blurred one is near
everything. Distances between these numbers are small where light, edges and fine detail lie alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["block_borders", "texture_size", "textures"]

BLOCKS = 4  # along each side
MEASURES = 5  # of a block and a channel
CHUNK = 1 << 22  # pixels that are in memory as whole numbers at a time


def texture_size(shape: tuple[int, ...]) -> int:
    """How many numbers there are for a picture of shape (H, W, C).

    >>> texture_size((28, 28, 1)), texture_size((32, 32, 3)), texture_size((2, 28, 1))
    (80, 240, 40)
    """
    height, width, channels = shape
    return MEASURES * min(BLOCKS, height) * min(BLOCKS, width) * channels


def textures(images: NDArray[Any]) -> NDArray[np.float64]:
    """Of each block the mean, and the roots of its mean and root mean square difference across and down.

    They are (N, F) in [0, 1]. Images are (N, H, W, C) of uint8, or of floats in [0, 1], which are rounded to
    such. All sums are of whole numbers, and therefore the same for a picture by itself and among others.

    >>> flat, striped = np.zeros((1, 8, 8, 1), np.uint8), np.zeros((1, 8, 8, 1), np.uint8)
    >>> striped[:, :, ::2] = 255
    >>> textures(flat).any(), textures(striped).reshape(5, 16)[:, 1].tolist()
    (np.False_, [0.5, 1.0, 0.0, 1.0, 0.0])
    """
    found = np.empty((len(images), texture_size(images.shape[1:])))
    size = max(1, CHUNK // max(1, int(np.prod(images.shape[1:]))))
    for start in range(0, len(images), size):
        part = images[start : start + size]
        if part.dtype != np.uint8:
            part = (255 * part).round().astype(np.uint8)
        found[start : start + size] = _of(part.astype(np.int32))
    return found


def _of(pixels: NDArray[np.int32]) -> NDArray[np.float64]:
    across, down = np.zeros_like(pixels), np.zeros_like(pixels)
    across[:, :, 1:], down[:, 1:] = np.diff(pixels, axis=2), np.diff(pixels, axis=1)
    means = [_block_means(np.abs(each)) for each in (across, down)]
    deviations = [np.sqrt(_block_means(np.square(each))) for each in (across, down)]
    rough = [np.sqrt(each / 255) for each in (*means, *deviations)]
    return np.stack([_block_means(pixels) / 255, *rough], axis=1).reshape(len(pixels), -1)


def _block_means(values: NDArray[np.int32]) -> NDArray[np.float64]:
    """Of whole numbers (N, H, W, C): (N, rows × columns × C)."""
    rows, columns = (block_borders(side) for side in values.shape[1:3])
    sums = np.add.reduceat(np.add.reduceat(values, rows, axis=1, dtype=np.int64), columns, axis=2)
    heights, widths = np.diff(rows, append=values.shape[1]), np.diff(columns, append=values.shape[2])
    return np.asarray(sums / (heights[:, None] * widths)[:, :, None]).reshape(len(values), -1)


def block_borders(side: int) -> NDArray[np.int64]:
    """Where blocks begin."""
    blocks = min(BLOCKS, side)
    return np.arange(blocks) * side // blocks
