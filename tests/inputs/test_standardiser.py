"""Columns on one scale, whatever they hold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.preprocessing import StandardScaler

from dissensus.inputs.standardiser import FARTHEST, LEAST_ROWS, Standardiser, far_out

FINITE = st.floats(allow_nan=False, allow_infinity=False)
TABLES = arrays.arrays(np.float64, st.tuples(st.integers(1, LEAST_ROWS), st.integers(1, 4)), elements=FINITE)


def test_it_is_scikit_learns_on_ordinary_columns():
    rows = np.random.default_rng(0).normal(size=(50, 3)) * [1, 1e-6, 1e6] + [0, 1, -1e6]
    ours = Standardiser.fit(rows)(rows)
    np.testing.assert_allclose(ours, StandardScaler().fit_transform(rows), rtol=1e-5, atol=1e-5)
    assert ours.dtype == np.float32


@settings(derandomize=True, deadline=None, max_examples=300)
@given(TABLES)
def test_the_rows_it_was_fitted_on_are_never_far(rows):
    standardised = Standardiser.fit(rows)(rows)
    assert standardised.shape == rows.shape
    assert np.isfinite(standardised).all()
    # No value is more than √(N−1) deviations from the mean of N; a column that is constant is at 0.
    inside = np.where(far_out(rows), 0.0, standardised)
    assert np.abs(inside).max() <= np.sqrt(len(rows)) * (1 + 1e-3) + 1e-3


@pytest.mark.parametrize("share", [0.09090909090909101, 0.1, 0.5, 1.0])
def test_differences_that_overflow_are_no_farther_than_others(share):
    """Of twelve values one is the largest number of all, and the others are a share of it below zero."""
    small = np.array([[1.0]] + [[-share]] * 11)
    rows = small * np.finfo(np.float64).max
    with np.errstate(over="ignore"):
        assert np.isinf(rows[0] - Standardiser.fit(rows).mean)
    np.testing.assert_allclose(
        Standardiser.fit(rows)(rows), StandardScaler().fit_transform(small), rtol=1e-6, atol=1e-6
    )


@settings(derandomize=True, deadline=None, max_examples=300)
@given(TABLES, st.data())
def test_any_finite_rows_stay_finite(rows, data):
    standardiser = Standardiser.fit(rows)
    others = data.draw(arrays.arrays(np.float64, (3, rows.shape[1]), elements=FINITE))
    standardised = standardiser(others)
    assert np.isfinite(standardised).all()
    assert np.abs(standardised).max() <= FARTHEST


@pytest.mark.parametrize("value", [0.0, 7.0, -1e-300, 0.1, 1e20, 1e300, -1.7e308])
def test_a_constant_column_is_zero_and_its_change_is_seen(value):
    rows = np.full((30, 1), value)
    standardiser = Standardiser.fit(rows)
    np.testing.assert_allclose(standardiser(rows), 0, atol=1e-3)
    assert np.abs(standardiser(np.array([[-value + 5.0]]))) > 1


def test_the_rounding_of_huge_numbers_is_no_variation():
    rows = 1e300 * (1 + 1e-15 * np.random.default_rng(0).integers(-2, 3, (50, 1)))
    assert np.abs(Standardiser.fit(rows)(rows)).max() < 0.1


def test_the_order_of_values_survives():
    values = np.array([[-1e300], [-3.0], [0.0], [1e-3], [2.0], [1e300]])
    standardised = Standardiser(np.zeros(1), np.ones(1))(values)
    assert (np.diff(standardised[:, 0]) > 0).all()


def test_columns_do_not_touch_each_other():
    rows = np.random.default_rng(0).normal(size=(20, 3))
    wild = rows.copy()
    wild[:, 1] *= 1e250
    np.testing.assert_array_equal(
        Standardiser.fit(rows)(rows)[:, [0, 2]], Standardiser.fit(wild)(wild)[:, [0, 2]]
    )


@pytest.mark.parametrize("value", [1e5, -1e9, 1e200])
@pytest.mark.parametrize("count", [LEAST_ROWS, 36, 5000])
def test_one_absurd_value_does_not_change_the_scale(value, count):
    rows = np.random.default_rng(0).lognormal(size=(count, 2))
    expected = Standardiser.fit(np.delete(rows, 3, axis=0))
    rows[3, 0] = value
    found = Standardiser.fit(rows)
    np.testing.assert_allclose(found.mean[0], expected.mean[0])
    np.testing.assert_allclose(found.scale[0], expected.scale[0])
    assert np.argwhere(far_out(rows)).tolist() == [[3, 0]]


def test_rare_values_are_not_far_out():
    rng = np.random.default_rng(0)
    flags = (rng.uniform(size=(5000, 1)) < 0.003).astype(float)
    counts = rng.poisson(0.1, size=(5000, 1)).astype(float)
    assert not far_out(np.hstack([flags, counts, rng.standard_t(3, size=(5000, 1))])).any()


def test_of_few_rows_nothing_is_far_out():
    assert not far_out(np.array([[1.0]] * (LEAST_ROWS - 2) + [[1e9]])).any()
