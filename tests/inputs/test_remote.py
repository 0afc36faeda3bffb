"""How far rows are from the bulk of all."""

import numpy as np
import pytest

from dissensus.inputs import remoteness
from dissensus.inputs.remote import MOST_ROWS


def random():
    return np.random.default_rng(1)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.37, 0.5, 1.0])
def test_it_is_the_distance_within_which_a_share_of_the_others_lies(share):
    rows = np.random.default_rng(0).normal(size=(41, 3))
    distances = np.linalg.norm(rows[:, None] - rows, axis=2)
    expected = np.sort(distances, axis=1)[:, int(np.ceil(share * 40))]
    np.testing.assert_allclose(np.sqrt(remoteness(rows, share, random())), expected, atol=1e-6)


@pytest.mark.parametrize("count", [300, 3 * MOST_ROWS])
def test_outliers_close_together_do_not_hide_each_other(count):
    rng = np.random.default_rng(0)
    odd = count // 10
    rows = np.concatenate([rng.normal(size=(count - odd, 4)), 4 + 0.01 * rng.normal(size=(odd, 4))])
    order = rng.permutation(count)
    found = np.empty(count)
    found[order] = remoteness(rows[order].astype(np.float32), 0.2, random())
    assert found[-odd:].min() > np.quantile(found[:-odd], 0.98)
    # With a smaller share they would look like the most usual rows of all.
    near = np.empty(count)
    near[order] = remoteness(rows[order].astype(np.float32), 0.05, random())
    assert near[-odd:].max() < near[:-odd].min()


def test_parts_of_the_work_are_put_together_in_order(monkeypatch):
    rows = np.random.default_rng(0).normal(size=(50, 2))
    whole = remoteness(rows, 0.3, random())
    monkeypatch.setattr("dissensus.inputs.remote.CHUNK", 7 * 50)
    np.testing.assert_allclose(remoteness(rows, 0.3, random()), whole)


@pytest.mark.parametrize("count", [1, 2])
def test_of_very_few_rows(count):
    assert remoteness(np.zeros((count, 2)), 0.5, random()).tolist() == [0.0] * count
