"""Statistics of many pictures on a GPU, which measures a hundred times as many a second as a core."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

__all__ = ["measured_in_tiles"]

TILE, LEAST = 2048, 8  # pictures that are measured at once
NUMBERS = 1 << 22  # of these, so that large pictures fit into memory


def measured_in_tiles(
    measuring: nn.Module, pictures: NDArray[np.uint8], wanted: Collection[str], device: torch.device
) -> dict[str, NDArray[np.float64]]:
    """Return the wanted statistics (N,), by name, that a module measures of pictures (N, H, W, C).

    The tiles have one shape, so that what a picture gets depends on nothing but itself. Nothing waits for the
    GPU before the last tile.
    """
    if not len(pictures):
        return {name: np.empty(0) for name in wanted}
    size = max(LEAST, min(TILE, NUMBERS // math.prod(pictures.shape[1:])))
    names: list[str] = []
    parts = []
    with torch.inference_mode():
        own = measuring.to(device)
        for start in range(0, len(pictures), size):
            part = pictures[start : start + size]
            tile = _tile(part, size, device)
            told: Mapping[str, Tensor] = own(tile, tile)
            names = [name for name in told if name in wanted]
            parts.append(torch.stack([told[name] for name in names])[:, : len(part)])
        found = torch.cat(parts, dim=1).cpu().numpy()
    return dict(zip(names, found, strict=True))


def _tile(pictures: NDArray[np.uint8], size: int, device: torch.device) -> Tensor:
    """Always as many; the last ones of the last tile are black."""
    tile = torch.zeros(size, *pictures.shape[1:], dtype=torch.uint8, pin_memory=device.type == "cuda")
    tile.numpy()[: len(pictures)] = pictures  # of whatever layout, and maybe read-only
    return tile.to(device, non_blocking=True)
