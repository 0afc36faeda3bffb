import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.errors import DataError
from dissensus.inputs import FRACTIONS, hold_out_classes, split


@settings(derandomize=True, deadline=None)
@given(
    n=st.integers(40, 3000),
    seed=st.integers(0, 2**40),
    weights=st.lists(st.integers(1, 9), min_size=1, max_size=4),
)
def test_disjoint_exhaustive_and_of_the_asked_sizes(n, seed, weights):
    fractions = {f"part{i}": weight / sum(weights) for i, weight in enumerate(weights)}
    parts = split(n, fractions, seed=seed)
    assert list(parts) == list(fractions)
    np.testing.assert_array_equal(np.sort(np.concatenate(list(parts.values()))), np.arange(n))
    for name, rows in parts.items():
        assert abs(len(rows) - n * fractions[name]) <= 1
        assert (np.diff(rows) > 0).all()


def test_the_same_call_gives_the_same_rows_whatever_ran_before():
    first = split(500, seed=7)
    np.random.default_rng(1).random(5)
    split(400, seed=8)
    second = split(500, seed=7)
    assert all(np.array_equal(first[name], second[name]) for name in FRACTIONS)
    assert not np.array_equal(first["train"], split(500, seed=8)["train"])


def test_moving_one_border_leaves_the_other_parts():
    before = split(1000, {"train": 0.6, "validation": 0.2, "test": 0.2})
    after = split(1000, {"train": 0.5, "validation": 0.3, "test": 0.2})
    np.testing.assert_array_equal(before["test"], after["test"])
    assert set(after["train"]) < set(before["train"])


def test_rows_are_well_mixed():
    rows = split(100_000, seed=0)["test"]
    # The mean of 10,000 of 0..n−1 without replacement has deviation n·√((1 − 0.1)/(12·10,000)).
    assert abs(rows.mean() / 100_000 - 0.5) < 4 * np.sqrt(0.9 / 120_000)


@pytest.mark.parametrize(
    "fractions",
    [{}, {"a": 0.5}, {"a": 0.6, "b": 0.6}, {"a": 1.0, "b": 0.0}, {"a": 1.5, "b": -0.5}, {"a": np.nan}],
)
def test_fractions_must_sum_to_one(fractions):
    with pytest.raises(DataError, match="sum to 1"):
        split(100, fractions)


@pytest.mark.parametrize("n", [0, 1, 3])
def test_too_few_rows_are_refused(n):
    with pytest.raises(DataError, match=f"{n} rows are too few"):
        split(n)


def test_hold_out_classes():
    labels = np.array([3, 0, 1, 1, 2, 3], np.uint8)
    inliers, outliers = hold_out_classes(labels, [3, 1])
    assert labels[outliers].tolist() == [3, 1, 1, 3]
    assert labels[inliers].tolist() == [0, 2]


@pytest.mark.parametrize(
    ("labels", "classes", "complaint"),
    [
        ([0, 1], [2], r"not \[2\]"),
        ([0, 1], [], "nothing"),
        ([0, 1], [0, 1], "every label"),
        ([], [0], "one value per row"),
        ([[0, 1]], [0], "one value per row"),
    ],
)
def test_hold_out_classes_refuses(labels, classes, complaint):
    with pytest.raises(DataError, match=complaint):
        hold_out_classes(labels, classes)
