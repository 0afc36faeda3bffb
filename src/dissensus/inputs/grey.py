"""Grey pictures that are saved in colour: three channels that say the same."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import InputWarning

__all__ = ["IN_COLOUR", "as_grey", "coloured", "grey_if_all_are", "none_coloured", "warn_of_grey"]

ROUNDING = 2  # of 255: as far apart as a grey picture's channels come out of JPEG or WebP
IN_COLOUR = (
    "is in colour, and this detector was fitted on grey pictures: make it grey if its colour means nothing"
)
AT_ONCE = 256  # pictures that are compared at once


def coloured(pictures: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which pictures (N,) of (N, H, W, 3), uint8 or in [0, 1], have channels that differ.

    >>> coloured(np.array([[[[7, 7, 8]]], [[[7, 7, 99]]]], np.uint8)).tolist()
    [False, True]
    """
    most = ROUNDING if pictures.dtype.kind in "iu" else ROUNDING / 255 + 1e-6
    found = np.zeros(len(pictures), dtype=np.bool_)
    for start in range(0, len(pictures), AT_ONCE):
        tile = pictures[start : start + AT_ONCE]
        apart = tile.max(axis=-1) - tile.min(axis=-1)
        found[start : start + AT_ONCE] = (apart > most).reshape(len(tile), -1).any(axis=1)
    return found


def as_grey(pictures: NDArray[Any]) -> NDArray[Any]:
    """Return one channel (…, 1) of pictures (…, 3) whose channels say the same."""
    return np.ascontiguousarray(pictures[..., 1:2])


def grey_if_all_are(pictures: NDArray[Any], *, stacklevel: int | None) -> NDArray[Any]:
    """Return training pictures (N, H, W, C) with one channel if they are grey and saved in colour.

    Whoever fits is warned; ``stacklevel`` says whose call that is about, and None that it was told before.
    """
    tiles = (pictures[start : start + AT_ONCE] for start in range(0, len(pictures), AT_ONCE))
    if pictures.shape[-1] != 3 or not none_coloured(tiles):
        return pictures
    if stacklevel is not None:
        warn_of_grey(len(pictures), stacklevel=stacklevel + 1)
    return as_grey(pictures)


def none_coloured(tiles: Iterable[NDArray[Any]]) -> bool:
    """Whether all pictures (n, H, W, 3) are grey; mostly the first few tell."""
    return not any(coloured(tile).any() for tile in tiles)


def warn_of_grey(count: int, *, stacklevel: int) -> None:
    """Warns whoever fits on so many grey pictures that are saved in colour."""
    warnings.warn(
        f"X holds {count} pictures that are all grey, though they are saved in colour: they are modelled as "
        "grey, and pictures in colour will be refused",
        InputWarning,
        stacklevel=stacklevel,
    )
