"""Small images laid side by side, as PNG bytes."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray

__all__ = ["strip"]

GAP = 2  # pixels between images; they stay transparent


def strip(images: NDArray[np.uint8]) -> bytes:
    """One row of images (n, H, W) or (n, H, W, 3)."""
    from PIL import Image

    count, height, width = images.shape[:3]
    row = Image.new("RGBA", (count * (width + GAP) - GAP, height))
    for number, pixels in enumerate(images):
        row.paste(Image.fromarray(pixels).convert("RGBA"), (number * (width + GAP), 0))
    buffer = io.BytesIO()
    row.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()
