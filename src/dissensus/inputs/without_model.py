"""What can be said of images without a model, for one to be fused with what a model says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dissensus.inputs.complexity import code_length
from dissensus.inputs.spectra import spectrum, spectrum_names

__all__ = ["CODE", "as_bytes", "image_statistic_names", "image_statistics"]

CODE = "code-length"


def image_statistic_names(shape: Sequence[int]) -> tuple[str, ...]:
    """Return the names of the statistics that images of shape (H, W, C) have.

    >>> image_statistic_names((28, 28, 1))[:2]
    ('code-length', 'detail-1')
    """
    return (CODE, *spectrum_names(shape))


def image_statistics(images: NDArray[Any]) -> dict[str, NDArray[np.float64]]:
    """Return all statistics (N,) by name of images (N, H, W, C): uint8, or floats in [0, 1]."""
    images = as_bytes(images)
    return {CODE: code_length(images), **spectrum(images)}


def as_bytes(images: NDArray[Any]) -> NDArray[np.uint8]:
    """Images as uint8; floats in [0, 1] are rounded to it."""
    if images.dtype == np.uint8:
        return images
    found: NDArray[np.uint8] = np.rint(255 * images.astype(np.float64)).astype(np.uint8)
    return found
