"""How long an input is under a lossless coder: its complexity, whatever a model thinks of it."""

from __future__ import annotations

import lzma
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import DataError

__all__ = ["code_length"]

# LZMA for a few bytes: a small dictionary, and no context from bytes before, of which there are hardly any.
_FILTERS = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 16, "lc": 0, "lp": 0, "pb": 0}]


def code_length(inputs: NDArray[Any]) -> NDArray[np.float64]:
    """Return the length in bits of each input's code (N,), each input coded by itself.

    Images, uint8 (N, H, W) or (N, H, W, C) of 1 or 3 channels, as PNG without its fixed parts (about 0.13 ms
    for 28×28); rows (N, D) of any numbers as LZMA of their bytes (0.03 ms and more). The same for the same
    input; another version of zlib or liblzma may find a code that is some bytes longer or shorter.

    >>> code_length(np.zeros((1, 28, 28), np.uint8)) < 200
    array([ True])
    """
    if inputs.ndim == 2:
        return np.array([8.0 * len(_packed(row)) for row in np.ascontiguousarray(inputs)])
    channels = inputs.shape[3] if inputs.ndim == 4 else 1
    if inputs.dtype != np.uint8 or inputs.ndim not in (3, 4) or channels not in (1, 3):
        raise DataError(
            "a code length is that of uint8 images (N, H, W) or (N, H, W, 1 or 3), or rows (N, D), not "
            f"{inputs.dtype} of shape {inputs.shape}."
        )
    if inputs.ndim == 4 and channels == 1:
        inputs = inputs[..., 0]
    return np.array([8.0 * _png_bytes(image) for image in np.ascontiguousarray(inputs)])


def _packed(row: NDArray[Any]) -> bytes:
    return lzma.compress(row.tobytes(), format=lzma.FORMAT_RAW, filters=_FILTERS)


def _png_bytes(image: NDArray[np.uint8]) -> int:
    """The bytes of the compressed pixels in a PNG file."""
    from PIL import Image

    buffer = BytesIO()
    Image.fromarray(image).save(buffer, "PNG", compress_level=9)
    return buffer.tell() - _FIXED_BYTES


_FIXED_BYTES = 8 + 25 + 12 + 12  # signature, header, and the frames of the data and of the end
