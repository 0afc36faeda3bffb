"""Made-up outliers: from images uint8 (N, H, W) or (N, H, W, C) to others of the same shape and type.

Some destroy all content (noise, constants), some keep the pixel statistics and break the meaning (inversion,
flips, patches, mixtures). A detector should be asked about both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import DataError
from dissensus.seeding import numpy_stream

__all__ = [
    "MADE_UP",
    "blurred",
    "constant",
    "every_kind",
    "flipped",
    "gaussian_noise",
    "inverted",
    "make_up",
    "mixture",
    "rotated",
    "shuffled_patches",
    "uniform_noise",
]

Images = NDArray[np.uint8]


def uniform_noise(images: Images, rng: np.random.Generator) -> Images:
    """Return images whose every value is drawn evenly from 0..255."""
    return rng.integers(0, 256, images.shape, np.uint8)


def gaussian_noise(images: Images, rng: np.random.Generator) -> Images:
    """Return normal noise with the images' own mean and deviation, per channel."""
    axes = (0, 1, 2)
    mean = images.mean(axes, np.float64)
    square = np.square(images, dtype=np.uint16).mean(axes, np.float64)  # 255² still fits
    deviation = np.sqrt(np.maximum(square - mean**2, 0))
    noise = rng.standard_normal(images.shape, np.float32)
    noise *= deviation.astype(np.float32)
    noise += mean.astype(np.float32)
    return _to_bytes(noise)


def constant(images: Images, rng: np.random.Generator) -> Images:
    """Return images of a single grey level or colour each."""
    colours = rng.integers(0, 256, (len(images), 1, 1, *images.shape[3:]), np.uint8)
    return np.broadcast_to(colours, images.shape).copy()


def inverted(images: Images, rng: np.random.Generator | None = None) -> Images:  # noqa: ARG001
    """Return the negatives of the images, 255 − x."""
    return 255 - images


def flipped(images: Images, rng: np.random.Generator | None = None) -> Images:  # noqa: ARG001
    """Return the images upside down."""
    return images[:, ::-1].copy()


def rotated(images: Images, rng: np.random.Generator | None = None) -> Images:  # noqa: ARG001
    """Turn images a quarter to the left; those that are not square are stretched to their old sides."""
    turned = np.rot90(images, axes=(1, 2))
    height, width = images.shape[1:3]
    rows = ((np.arange(height) + 0.5) * width / height).astype(np.intp)
    columns = ((np.arange(width) + 0.5) * height / width).astype(np.intp)
    return np.ascontiguousarray(turned[:, rows[:, None], columns])


def shuffled_patches(images: Images, rng: np.random.Generator) -> Images:
    """Move square patches, a quarter of the shorter side, so that none stays in its place.

    Where the side does not divide, the patches lie in the middle and the border is left alone.
    """
    height, width = images.shape[1:3]
    side = max(1, min(height, width) // 4)
    rows, columns = height // side, width // side
    count = rows * columns
    if count < 2:
        raise DataError(f"images of {height}×{width} are too small to be cut into patches.")
    top, left = (height - rows * side) // 2, (width - columns * side) // 2
    inside = np.s_[:, top : top + rows * side, left : left + columns * side]
    patches = images[inside].reshape(len(images), rows, side, columns, side, -1).swapaxes(2, 3)
    patches = patches.reshape(len(images), count, -1)
    # Each patch goes where the next one in a random round was: a single cycle, which leaves nothing in place.
    order = rng.permuted(np.tile(np.arange(count), (len(images), 1)), axis=1)
    moved = np.empty_like(patches)
    index = np.arange(len(images))[:, None]
    moved[index, order] = patches[index, np.roll(order, 1, axis=1)]
    moved = moved.reshape(len(images), rows, columns, side, side, -1).swapaxes(2, 3)
    result = images.copy()
    result[inside] = moved.reshape(result[inside].shape)
    return result


def blurred(images: Images, rng: np.random.Generator | None = None) -> Images:  # noqa: ARG001
    """Blur images with a deviation of 1/14 of the shorter side: two pixels in a 28×28 image."""
    from scipy.ndimage import gaussian_filter

    deviation = min(images.shape[1:3]) / 14
    deviations = (0.0, deviation, deviation, 0.0)[: images.ndim]
    return _to_bytes(gaussian_filter(images.astype(np.float32), deviations))


def mixture(images: Images, rng: np.random.Generator) -> Images:
    """Average each image with one other of the set; each image serves once as that other one."""
    if len(images) < 2:
        raise DataError("a mixture needs at least two images to mix.")
    order = rng.permutation(len(images))
    mixed = np.empty_like(images)
    total = images[order].astype(np.uint16) + images[np.roll(order, 1)]
    mixed[order] = (total + 1) // 2
    return mixed


MADE_UP: Mapping[str, Callable[[Images, np.random.Generator], Images]] = MappingProxyType(
    {
        "uniform-noise": uniform_noise,
        "gaussian-noise": gaussian_noise,
        "constant": constant,
        "inverted": inverted,
        "flipped": flipped,
        "rotated": rotated,
        "shuffled-patches": shuffled_patches,
        "blurred": blurred,
        "mixture": mixture,
    }
)


def make_up(kind: str, images: Images, seed: int = 0) -> Images:
    """Make outliers of a ``kind`` (a key of ``MADE_UP``) from ``images``, the same for the same seed.

    >>> make_up("inverted", np.full((1, 1, 3), 5, np.uint8)).tolist()
    [[[250, 250, 250]]]
    """
    if kind not in MADE_UP:
        raise DataError(f"there is no made-up outlier {kind!r}; choose one of {', '.join(MADE_UP)}.")
    if images.dtype != np.uint8 or images.ndim not in (3, 4) or 0 in images.shape:
        raise DataError(f"images must be uint8 (N, H, W) or (N, H, W, C), not {images.dtype} {images.shape}.")
    return MADE_UP[kind](images, numpy_stream(seed, "outliers", kind))


def every_kind(images: Images, seed: int = 0) -> Iterator[tuple[str, Images]]:
    """Yield every kind that can be made of ``images``, and its outliers; tiny ones have no patches."""
    for kind in MADE_UP:
        with suppress(DataError):
            yield kind, make_up(kind, images, seed)


def _to_bytes(values: NDArray[np.float32]) -> Images:
    return values.round().clip(0, 255).astype(np.uint8)
