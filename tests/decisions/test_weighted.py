"""Weighted p-values: the definition, and the promise under a known shift where plain ones break it."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dissensus.decisions import conformal_p_values, effective_size, weighted_p_values
from dissensus.errors import DataError

pairs = st.lists(
    st.tuples(st.integers(-3, 3).map(float), st.integers(0, 5).map(float)), min_size=1, max_size=15
)


@settings(derandomize=True, deadline=None)
@given(pairs, pairs)
def test_it_is_the_definition(calibration, tested):
    if not sum(weight for _, weight in calibration):
        calibration = [*calibration, (0.0, 1.0)]
    (own, own_weights), (new, new_weights) = zip(*calibration, strict=True), zip(*tested, strict=True)
    expected = [
        (sum(w for s, w in calibration if s >= score) + weight) / (sum(own_weights) + weight)
        for score, weight in tested
    ]
    np.testing.assert_allclose(weighted_p_values(own, new, own_weights, new_weights), expected, rtol=1e-12)


def test_equal_weights_are_plain_p_values_with_the_same_rounding():
    random = np.random.default_rng(0)
    calibration, scores = random.normal(size=200), random.normal(size=50)
    scores[:10] = calibration[:10] * (1 + 1e-15)  # ties but for the last bits
    found = weighted_p_values(calibration, scores, np.full(200, 3.0), np.full(50, 3.0))
    np.testing.assert_allclose(found, conformal_p_values(calibration, scores), rtol=1e-12)


def test_only_ratios_of_weights_matter_however_large():
    expected = weighted_p_values([1.0, 2.0, 3.0], [2.0, 9.0], [1, 2, 3], [1, 2])
    for scale in (1e-300, 1e307):
        found = weighted_p_values(
            [1.0, 2.0, 3.0], [2.0, 9.0], np.array([1, 2, 3]) * scale, np.array([1, 2]) * scale
        )
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_under_a_known_shift_the_promise_holds_where_that_of_plain_p_values_breaks():
    """x is N(0, 1) and becomes N(1, 1), so w(x) = exp(x − ½); the score is higher where x is."""
    random, sets = np.random.default_rng(1), 4000
    plain, weighted = np.empty(sets), np.empty(sets)
    for number in range(sets):
        before, after = random.normal(size=50), random.normal(size=1) + 1
        noise = random.normal(size=51) * 0.5
        own, new = before + noise[:50], after + noise[50:]
        plain[number] = conformal_p_values(own, new)[0]
        weighted[number] = weighted_p_values(own, new, np.exp(before - 0.5), np.exp(after - 0.5))[0]
    for level in (0.05, 0.1, 0.3):
        held = stats.binomtest(int((weighted <= level).sum()), sets, level, alternative="greater").pvalue
        broken = stats.binomtest(int((plain <= level).sum()), sets, level, alternative="greater").pvalue
        assert held > 0.01
        assert broken < 1e-10
    assert (weighted <= 0.3).mean() > 0.15  # nor is it valid by silence


def test_the_effective_size_falls_with_the_shift():
    x = np.random.default_rng(2).normal(size=10_000)
    sizes = [effective_size(np.exp(shift * x)) for shift in (0.0, 0.5, 1.0)]
    assert sizes[0] == pytest.approx(10_000)
    assert sizes[1] == pytest.approx(10_000 * math.exp(-0.25), rel=0.05)  # n/E[w²] for normal x
    assert sizes[2] == pytest.approx(10_000 * math.exp(-1), rel=0.15)
    assert effective_size([0.0, 0.0]) == 0


@pytest.mark.parametrize(
    ("own", "new", "words"),
    [
        ([1, 1], [1], "calibration_weights must be one number"),
        ([1, 1, 1], [1, 1], "weights must be one number"),
        ([1, 1, -1], [1], "calibration_weights must be finite"),
        ([1, 1, 1], [math.inf], "weights must be finite"),
        ([0, 0, 0], [1], "all 0"),
    ],
)
def test_what_are_no_weights_is_refused(own, new, words):
    with pytest.raises(DataError, match=words):
        weighted_p_values([1.0, 2.0, 3.0], [2.0], own, new)
