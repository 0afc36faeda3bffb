"""Principal components of vectors, and what they leave over."""

import numpy as np
import pytest

from dissensus.inputs.components import MOST, Components


@pytest.fixture
def vectors():
    """(300, 100) that vary in five directions, and hardly in the others."""
    rng = np.random.default_rng(0)
    flat = rng.normal(size=(300, 5)) @ (rng.normal(size=(5, 100)) * [[9.0], [7.0], [5.0], [3.0], [1.0]])
    return flat + 1e-3 * rng.normal(size=(300, 100)) + 50


def test_components_are_those_of_a_singular_value_decomposition(vectors):
    own = Components.fit(vectors)
    assert own.directions.shape == (60, 100)  # one for five training vectors
    np.testing.assert_allclose(own.directions @ own.directions.T, np.eye(60), atol=1e-12)
    found = own(vectors)
    assert found.shape == (300, 61)
    centred = vectors - vectors.mean(axis=0)
    scales = np.linalg.svd(centred, compute_uv=False)[:60]
    np.testing.assert_allclose(np.linalg.norm(found[:, :60], axis=0), scales, rtol=1e-9)
    np.testing.assert_allclose(np.corrcoef(found[:, :5].T), np.eye(5), atol=1e-9)
    left = centred - found[:, :60] @ own.directions
    np.testing.assert_allclose(found[:, 60], np.log(np.linalg.norm(left, axis=1)), rtol=1e-6)


def test_a_vector_that_left_the_directions_shows_in_the_residual(vectors):
    own = Components.fit(vectors)
    away = np.random.default_rng(1).normal(size=100)
    away -= away @ own.directions.T @ own.directions
    usual, found = own(vectors)[:, -1], own(vectors[:1] + away)[0]
    assert found[-1] > usual.max() + 1
    np.testing.assert_allclose(found[:-1], own(vectors[:1])[0, :-1], atol=1e-9)


def test_a_vector_has_the_same_bits_at_every_place(vectors):
    own = Components.fit(vectors)
    whole = own(vectors.astype(np.float32))
    for n in range(0, 300, 7):
        np.testing.assert_array_equal(own(vectors[n : n + 1].astype(np.float32))[0], whole[n])
    np.testing.assert_array_equal(own(vectors[::-1].astype(np.float32))[::-1], whole)


@pytest.mark.parametrize(
    ("rows", "size", "count"), [(8, 50, 1), (100, 3, 3), (1000, 300, MOST), (40, 2100, 8)]
)
def test_how_many_there_are(rows, size, count):
    own = Components.fit(np.random.default_rng(0).normal(size=(rows, size)))
    assert len(own.directions) == count
    assert own.has_residual == (count < size)
    assert len(own.names) == count + own.has_residual


def test_what_never_varies_is_no_component():
    rows = np.zeros((100, 4))
    rows[:, 0] = np.linspace(0, 1, 100)
    own = Components.fit(rows)
    assert own.names == ("component 0", "residual")
    assert own(rows + np.eye(4)[2])[:, 1].min() > own(rows)[:, 1].max() + 10
    assert np.isfinite(Components.fit(np.ones((20, 4)))(rows)).all()


def test_one_absurd_vector_turns_no_direction():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(500, 3)) * [10, 1, 1]
    rows[7] = [0, 1e9, 0]
    assert abs(Components.fit(rows).directions[0, 0]) > 0.9


def test_a_vector_has_its_own_bits_whatever_it_is_projected_with(vectors):
    own = Components.fit(vectors)
    alone = np.concatenate([own(vector[None]) for vector in vectors])
    np.testing.assert_array_equal(own(vectors), alone)
    np.testing.assert_array_equal(own(np.asfortranarray(vectors)), alone)
