"""Which rows serve which purpose: a fixed function of how many there are, the fractions and the seed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import pairwise
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dissensus.errors import DataError
from dissensus.seeding import numpy_stream

__all__ = ["FRACTIONS", "hold_out_classes", "split"]

FRACTIONS: Mapping[str, float] = MappingProxyType(
    {"train": 0.7, "validation": 0.1, "calibration": 0.1, "test": 0.1}
)


def split(
    n: int, fractions: Mapping[str, float] = FRACTIONS, *, seed: int = 0
) -> dict[str, NDArray[np.int64]]:
    """Divide rows at random: sorted indices by name, no row twice and none left out.

    The rows are shuffled by ``n`` and ``seed`` alone and the parts follow each other in the order given, so
    moving the border between two parts leaves all others as they were.

    >>> {name: len(rows) for name, rows in split(1000, seed=3).items()}
    {'train': 700, 'validation': 100, 'calibration': 100, 'test': 100}
    """
    shares = list(fractions.values())
    if not shares or not all(0 < share <= 1 for share in shares) or not math.isclose(sum(shares), 1):
        raise DataError(f"fractions must be positive and sum to 1, not {dict(fractions)}.")
    borders = [0, *(round(n * math.fsum(shares[: part + 1])) for part in range(len(shares) - 1)), n]
    empty = [name for name, (start, stop) in zip(fractions, pairwise(borders), strict=True) if stop <= start]
    if empty:
        raise DataError(
            f"{n} rows are too few for the parts {', '.join(fractions)}: nothing is left for {empty[0]}; "
            "give more rows or fewer parts."
        )
    order = numpy_stream(seed, "split", n).permutation(n)
    return {
        name: np.sort(order[start:stop])
        for name, (start, stop) in zip(fractions, pairwise(borders), strict=True)
    }


def hold_out_classes(
    labels: ArrayLike, classes: Iterable[int]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return masks (N,) of inliers and of outliers, with ``classes`` as the outliers.

    >>> hold_out_classes([0, 1, 2, 1], [1])[1]
    array([False,  True, False,  True])
    """
    known = np.asarray(labels)
    chosen = np.unique(np.asarray(list(classes)))
    if known.ndim != 1 or not len(known):
        raise DataError(f"labels must be one value per row, not of shape {known.shape}.")
    absent = np.setdiff1d(chosen, known)
    if not len(chosen) or len(absent):
        raise DataError(
            f"classes must name labels that occur ({', '.join(map(str, np.unique(known)))}), not "
            f"{absent.tolist() if len(absent) else 'nothing'}."
        )
    outliers = np.isin(known, chosen)
    if outliers.all():
        raise DataError("classes names every label that occurs; leave at least one as the inliers.")
    return ~outliers, outliers
