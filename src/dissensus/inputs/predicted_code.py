r"""How many bits a picture takes once each of its values is predicted by those next to it.

The predictor is that of lossless JPEG (Weinberger, Seroussi and Sapiro, 2000): of the value to the left a,
above b and above left c,

.. math:: \hat x = \operatorname{median}(a, b, a + b - c),

and what is left over costs :math:`\log_2(1 + |x - \hat x|)` bits, about half of what Elias's code takes. It
asks what the length of a PNG code asks, for many pictures at once and in whole numbers alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["BIT", "predicted_length"]

BIT = 1024
"""The parts of a bit in which costs are counted: sums of whole numbers do not depend on their order."""
_COST = np.rint(BIT * np.log2(1.0 + np.arange(256))).astype(np.int32)
CHUNK = 1 << 20  # values that are predicted at a time


def predicted_length(images: NDArray[Any]) -> NDArray[np.float64]:
    """Return the bits (N,) that are left once each pixel of uint8 pictures is predicted.

    >>> predicted_length(np.stack([np.zeros((8, 8, 1), np.uint8), np.eye(8, dtype=np.uint8)[..., None]]))
    array([ 0., 22.])
    """
    found = np.empty(len(images))
    size = max(1, CHUNK // max(1, int(np.prod(images.shape[1:]))))
    for start in range(0, len(images), size):
        found[start : start + size] = _of(images[start : start + size].astype(np.int16))
    return found


def _of(pixels: NDArray[np.int16]) -> NDArray[np.float64]:
    around = np.pad(pixels, ((0, 0), (1, 0), (1, 0), (0, 0)))  # beyond the border it is black
    left, above, corner = around[:, 1:, :-1], around[:, :-1, 1:], around[:, :-1, :-1]
    low, high = np.minimum(left, above), np.maximum(left, above)
    predicted = np.clip(left + above - corner, low, high)
    costs = _COST[np.abs(pixels - predicted)]
    return np.asarray(costs.reshape(len(pixels), -1).sum(axis=1, dtype=np.int64) / BIT)
