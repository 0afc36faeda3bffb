r"""The nearest of some points, exactly, for many queries at once.

One matrix product in float32 gives a lower bound of every distance,

.. math:: d^2(q, t) ≥ |q|^2 (1 - δ) + |t|^2 (1 - δ) - 2\, q \cdot t,

with δ above what the product can be rounded by. Points with the lowest bounds are measured again, a pair at a
time in float64 with sums in a fixed order. A query whose k-th distance is not below the bound of every point
left out is measured against all points that it could be nearer to. What is found is therefore the nearest
points themselves, whatever the product rounds: the same bits alone, in any batch and in any order.

To look for the lowest bounds among all would take far longer than the product. Points are in groups, and
the c lowest bounds lie in the c groups whose own lowest are lowest: of these alone bounds are compared.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dissensus.one_thread import one_thread

__all__ = ["Neighbours", "summed"]

SPARE = 6  # points more than are asked for that are measured at once
USUAL = 16  # points that are measured at once, for which the groups' size is best
INF = np.float32(np.inf)
NOWHERE = 1e38  # the bound of a point that only fills up a group: infinity times nothing is no number
CHUNK = 1 << 20  # numbers of the matrix of bounds that are in memory at a time, in each thread
MOST_ALONE = 8  # chunks that no second thread is started for


class Neighbours:
    """Points (R, K), of which the nearest are found.

    ``lengths`` (R,) are squared lengths in directions that the K numbers leave out. There, different points
    are taken to be orthogonal: a distance² is the sum over the K numbers, and both squared lengths.

    >>> found = Neighbours(np.float32([[0, 0], [3, 4], [9, 9]]), np.zeros(3)).find(np.float32([[3, 3]]), 2)
    >>> found[0], found[1]
    (array([[ 1., 18.]]), array([[1, 0]]))
    """

    def __init__(self, points: NDArray[np.float32], lengths: NDArray[np.floating]) -> None:
        self._columns = np.ascontiguousarray(points.T, dtype=np.float64)
        self._lengths = np.asarray(lengths, dtype=np.float64)
        self._delta = 2.0 * (points.shape[1] + 8) * float(np.finfo(np.float32).eps)
        squares = summed(np.square(self._columns))
        bounds = (1.0 - self._delta) * (squares + self._lengths)
        product = np.concatenate([-2.0 * self._columns, bounds[None]]).astype(np.float32)
        self._group = max(1, math.isqrt(len(points) // USUAL))
        filling = np.zeros((len(product), -len(points) % self._group), np.float32)
        filling[-1] = NOWHERE
        self._product = np.concatenate([product, filling], axis=1)

    def __len__(self) -> int:
        return len(self._lengths)

    def find(
        self,
        queries: NDArray[np.float32],
        count: int,
        lengths: NDArray[np.floating] | None = None,
        without: NDArray[np.int64] | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the squared distances (N, count) from queries (N, K), ascending, and which points they are.

        Of points equally far the first comes first. ``without`` (N,) names a point for each query that is not
        looked at: the query itself, where it is one of the points. ``count`` must not exceed the points left.
        """
        N = len(queries)
        own = np.zeros(N) if lengths is None else np.asarray(lengths, dtype=np.float64)
        distances, places = np.empty((N, count)), np.empty((N, count), np.int64)
        size = max(1, CHUNK // len(self))

        def found(starts: range) -> Iterator[None]:
            for start in starts:
                part = slice(start, start + size)
                skip = None if without is None else without[part]
                distances[part], places[part] = self._chunk(queries[part], own[part], count, skip)
                yield

        # Here and not above, for both take torch, which decoders of pictures and merges start without.
        from dissensus.side_by_side import side_by_side
        from dissensus.torch_threads import usable_threads

        starts = range(0, N, size)
        threads = usable_threads() if len(starts) > MOST_ALONE else 1
        for _ in side_by_side([found(starts[thread::threads]) for thread in range(threads)], threads=1):
            pass
        return distances, places

    def _chunk(
        self,
        queries: NDArray[np.float32],
        own: NDArray[np.float64],
        count: int,
        without: NDArray[np.int64] | None,
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        # Threads of so small a product meet for longer than they work, and on a busy machine for much longer.
        with one_thread():
            bounds = np.concatenate([queries, np.ones((len(queries), 1), np.float32)], axis=1) @ self._product
        if without is not None:
            bounds[np.arange(len(queries)), without] = np.inf
        columns = np.ascontiguousarray(queries.T, dtype=np.float64)
        chosen = min(len(self), count + SPARE)
        places = np.sort(self._lowest(bounds, chosen), axis=1)
        largest = np.take_along_axis(bounds, places, axis=1).max(axis=1)
        distances = self._measured(columns[:, :, None], own[:, None], places)
        if without is not None:
            distances[places == without[:, None]] = np.inf
        distances, places = _nearest(distances, places, count)
        if chosen == len(self):
            return distances, places
        # What a bound lacks for the distance of its query: |q|² (1 − δ), and the length beside.
        lacking = (1.0 - self._delta) * summed(np.square(columns)) + own
        unsure = largest.astype(np.float64) + lacking <= distances[:, -1]
        for row in np.flatnonzero(unsure):
            near = np.flatnonzero(
                bounds[row] <= np.nextafter(np.float32(distances[row, -1] - lacking[row]), INF)
            )
            measured = self._measured(columns[:, row, None], own[row], near)
            distances[row], places[row] = _nearest(measured, near, count)
        return distances, places

    def _lowest(self, bounds: NDArray[np.float32], count: int) -> NDArray[np.int64]:
        """The points (n, count) with the lowest bounds, in any order."""
        n, groups = len(bounds), bounds.shape[1] // self._group
        if count == len(self):
            return np.broadcast_to(np.arange(count), (n, count))
        if groups <= count:
            return np.argpartition(bounds, count - 1, axis=1)[:, :count]
        least = bounds.reshape(n, self._group, groups).min(axis=1)
        near = np.argpartition(least, count - 1, axis=1)[:, None, :count]
        places = (near + groups * np.arange(self._group)[:, None]).reshape(n, -1)
        lowest = np.argpartition(np.take_along_axis(bounds, places, axis=1), count - 1, axis=1)
        return np.take_along_axis(places, lowest[:, :count], axis=1)

    def _measured(
        self, columns: NDArray[np.float64], own: NDArray[np.float64], places: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """The squared distances of pairs, of any shape: queries by columns (K, …), and points by number."""
        total = own + self._lengths[places]
        for column, points in zip(columns, self._columns, strict=True):
            total += np.square(column - points[places])
        return total


def summed(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum (N,) over columns (K, N), one after the other: a row's bits do not depend on other rows."""
    total = np.zeros(columns.shape[1:])
    for column in columns:
        total += column
    return total


def _nearest(
    distances: NDArray[np.float64], places: NDArray[np.int64], count: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The ``count`` least distances along the last axis; places ascend, and of equal ones the first count."""
    order = np.argsort(distances, axis=-1, kind="stable")[..., :count]
    return np.take_along_axis(distances, order, -1), np.take_along_axis(places, order, -1)
