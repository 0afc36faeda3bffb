"""The nearest points are those of brute force, with the same bits in any company."""

import numpy as np
import pytest

from dissensus.inputs import neighbours
from dissensus.inputs.neighbours import Neighbours


def brute_force(points, queries, count, lengths=None, own=None):
    squares = ((queries[:, None].astype(np.float64) - points[None].astype(np.float64)) ** 2).sum(axis=-1)
    if lengths is not None:
        squares = squares + lengths + own[:, None]
    order = np.argsort(squares, axis=1, kind="stable")[:, :count]
    return np.take_along_axis(squares, order, 1), order


def made(kind, columns, seed=0):
    random = np.random.default_rng(seed)
    points, queries = (
        random.normal(size=(n, columns)).astype(np.float32) for n in (403, 90)
    )  # no whole groups
    if kind == "whole numbers":  # many at the same distance
        return np.rint(points), np.rint(queries)
    if kind == "far from the centre":  # the product rounds away all that tells points apart
        return points + np.float32(3000), queries + np.float32(3000)
    if kind == "absurd":
        points[:4] *= 1e4
        queries[:4] *= 1e5
        queries[4] = 1e6
    return points, queries


KINDS = ("plain", "whole numbers", "far from the centre", "absurd")


@pytest.mark.parametrize("columns", [1, 7, 64])
@pytest.mark.parametrize("kind", KINDS)
def test_they_are_those_of_brute_force(kind, columns):
    points, queries = made(kind, columns)
    squares, places = Neighbours(points, np.zeros(len(points))).find(queries, 10)
    expected, order = brute_force(points, queries, 10)
    np.testing.assert_allclose(squares, expected, rtol=1e-12)
    if kind == "whole numbers":  # sums of whole numbers are exact, and so are ties
        np.testing.assert_array_equal(places, order)


@pytest.mark.parametrize("kind", KINDS)
def test_a_query_has_the_same_bits_in_any_company(kind, monkeypatch):
    points, queries = made(kind, 20)
    found = Neighbours(points, np.zeros(len(points)))
    squares, places = found.find(queries, 10)
    order = np.random.default_rng(1).permutation(len(queries))
    for size in (neighbours.CHUNK, 7 * len(points)):
        monkeypatch.setattr(neighbours, "CHUNK", size)
        again = found.find(queries[order], 10)
        np.testing.assert_array_equal(again[0], squares[order])
        np.testing.assert_array_equal(again[1], places[order])
    for n in range(0, len(queries), 9):
        alone = found.find(queries[n : n + 1], 10)
        np.testing.assert_array_equal(alone[0][0], squares[n])
        np.testing.assert_array_equal(alone[1][0], places[n])


def test_lengths_beside_the_numbers_count():
    points, queries = made("plain", 5)
    random = np.random.default_rng(2)
    lengths, own = random.gamma(3.0, size=len(points)), random.gamma(3.0, size=len(queries))
    squares, places = Neighbours(points, lengths).find(queries, 3, own)
    expected, order = brute_force(points, queries, 3, lengths, own)
    np.testing.assert_allclose(squares, expected, rtol=1e-12)
    np.testing.assert_array_equal(places, order)


def test_a_point_is_not_its_own_neighbour():
    points, _ = made("whole numbers", 4)
    everyone = np.arange(len(points))
    squares, places = Neighbours(points, np.zeros(len(points))).find(points, 12, without=everyone)
    assert (places != everyone[:, None]).all()
    for n in (0, 50, 402):
        others = np.delete(points, n, axis=0)
        np.testing.assert_array_equal(squares[n], brute_force(others, points[n : n + 1], 12)[0][0])
    few = Neighbours(points[:3], np.zeros(3)).find(points[:3], 2, without=everyone[:3])[1]
    assert [sorted(row) for row in few.tolist()] == [[1, 2], [0, 2], [0, 1]]
