"""What there is to know of a dataset by name: its files, where they come from, and who reads them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Entry", "Origin", "Pictures"]

Pictures: TypeAlias = tuple[NDArray[np.uint8], NDArray[np.uint8]]
"""Images (N, H, W) or (N, H, W, 3), and labels (N,)."""


@dataclass(frozen=True)
class Origin:
    """Where a file comes from; of a tar archive, ``member`` is its name inside."""

    url: str
    sha256: str
    member: str | None = None


@dataclass(frozen=True)
class Entry:
    """A dataset: its folder, its files, and the function that reads a split of them."""

    folder: str
    """Below the places that are looked in; torchvision's names."""
    files: Mapping[str, Mapping[str, Origin]]
    """For each split its files in reading order, with their origins."""
    read: Callable[[Sequence[Path]], Pictures]
    also_in: Path | None = None
    """A folder of this machine that may hold the files, whatever else was configured."""
    remedy: str = ""
    """Another way to come by them, to follow a sentence."""
