"""How inputs are divided: into tiles of one fixed shape, and these between the cores."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import torch
from torch import Tensor

__all__ = ["filled", "slices", "tile_ranges"]


def slices(inputs: slice, size: int) -> Iterator[slice]:
    """``inputs``, so many at a time.

    >>> list(slices(slice(4, 9), 3))
    [slice(4, 7, None), slice(7, 9, None)]
    """
    for start in range(inputs.start, inputs.stop, size):
        yield slice(start, min(start + size, inputs.stop))


def filled(rows: Tensor, tile: int) -> Tensor:
    """Always whole tiles, in memory of their own: the last one is filled up with the first row.

    Kernels add up in another order where memory is aligned otherwise, as it is in the middle of a tensor.
    """
    missing = -len(rows) % tile
    return torch.cat([rows, rows[:1].expand(missing, *rows.shape[1:])]) if missing else rows.clone()


def tile_ranges(count: int, tile: int, most: int) -> list[slice]:
    """``count`` inputs in at most so many ranges of whole tiles, about equally long.

    >>> tile_ranges(10, 4, 2)
    [slice(0, 4, None), slice(4, 10, None)]
    """
    tiles = -(-count // tile)
    ranges = min(tiles, most)
    bounds = [tile * (tiles * number // ranges) for number in range(ranges)] + [count]
    return [slice(start, stop) for start, stop in itertools.pairwise(bounds)]
