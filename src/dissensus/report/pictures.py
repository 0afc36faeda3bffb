"""Images as PNG bytes: side by side, alone, with the places where draws disagree; and as an address."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["data_uri", "heat_map", "picture", "strip"]

GAP = 2  # pixels between images; they stay transparent
LARGEST = 192  # pixels of a side: larger ones are made smaller, or a page of many would be heavy
GLOW = np.array([255.0, 120.0, 20.0])  # orange stands out from grey for every kind of colour vision


def strip(images: NDArray[np.uint8]) -> bytes:
    """Return a strip of images (n, H, W) or (n, H, W, 3), side by side."""
    from PIL import Image

    count, height, width = images.shape[:3]
    row = Image.new("RGBA", (count * (width + GAP) - GAP, height))
    for number, pixels in enumerate(images):
        row.paste(Image.fromarray(pixels).convert("RGBA"), (number * (width + GAP), 0))
    buffer = io.BytesIO()
    row.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def picture(image: NDArray[Any]) -> bytes:
    """One image (H, W, 1) or (H, W, 3), uint8 or floats in [0, 1]."""
    return _png(_bytes(image))


def heat_map(image: NDArray[Any], disagreement: NDArray[np.float64], top: float) -> bytes:
    """The image (H, W, C), faint and grey, with its disagreement (H, W) glowing; ``top`` nats glow fully."""
    grey = _bytes(image).astype(np.float64).mean(axis=-1, keepdims=True)
    strength = np.clip(np.nan_to_num(disagreement / max(top, 1e-12)), 0, 1)[..., None]
    return _png((0.4 * grey * (1 - strength) + GLOW * strength).round().astype(np.uint8))


def data_uri(png: bytes) -> str:
    """A picture as an address that holds it."""
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"


def _bytes(image: NDArray[Any]) -> NDArray[np.uint8]:
    return image if image.dtype == np.uint8 else (255 * image.clip(0, 1)).round().astype(np.uint8)


def _png(pixels: NDArray[np.uint8]) -> bytes:
    from PIL import Image

    drawn = Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels)
    drawn.thumbnail((LARGEST, LARGEST))
    buffer = io.BytesIO()
    drawn.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()
