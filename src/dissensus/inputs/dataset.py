"""What every named set of images is handed out as."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Dataset"]


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Images uint8 (N, H, W) or (N, H, W, 3), their labels uint8 (N,), and what they are called."""

    images: NDArray[np.uint8]
    labels: NDArray[np.uint8]
    name: str
    split: str

    def __len__(self) -> int:
        return len(self.images)

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}, {self.split!r}, images {self.images.shape})"
