import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from dissensus.decisions import (
    benjamini_hochberg,
    benjamini_yekutieli,
    check_discoveries_possible,
    conformal_p_values,
    discovery_limit,
    least_calibration_size_for_fdr,
)
from dissensus.errors import DataError, SettingsError

p_lists = st.lists(st.integers(1, 40).map(lambda k: k / 40), min_size=1, max_size=30)


def flagged_by_definition(p_values, rate):
    """The k smallest, k the largest with p_(k) ≤ rate·k/N; equal p-values share one fate."""
    ordered = sorted(p_values)
    ks = [k for k, p in enumerate(ordered, start=1) if p <= rate * k / len(p_values) + 1e-12]
    return [bool(ks) and p <= ordered[ks[-1] - 1] for p in p_values]


@settings(derandomize=True, deadline=None)
@given(p_lists, st.sampled_from([0.05, 0.1, 0.25, 0.5]))
def test_both_procedures_follow_their_definition(p_values, fdr):
    harmonic = sum(1 / i for i in range(1, len(p_values) + 1))
    assert benjamini_hochberg(p_values, fdr).flagged.tolist() == flagged_by_definition(p_values, fdr)
    by = benjamini_yekutieli(p_values, fdr).flagged.tolist()
    assert by == flagged_by_definition(p_values, fdr / harmonic)


@settings(derandomize=True, deadline=None)
@given(p_lists, st.sampled_from([0.05, 0.1, 0.25, 0.5]))
def test_the_limit_tells_exactly_those_that_are_flagged(p_values, fdr):
    values, counts = np.unique(p_values, return_counts=True)
    limit = discovery_limit(values[::-1], counts[::-1], fdr)
    assert (np.array(p_values) <= limit).tolist() == benjamini_hochberg(p_values, fdr).flagged.tolist()
    assert discovery_limit([], [], fdr) == -1.0


@settings(derandomize=True, deadline=None)
@given(p_lists)
def test_adjusted_p_values_are_scipy_s_to_the_bit(p_values):
    for ours, theirs in ((benjamini_hochberg, "bh"), (benjamini_yekutieli, "by")):
        expected = false_discovery_control(p_values, method=theirs)
        np.testing.assert_array_equal(ours(p_values, 0.5).adjusted, expected)


@settings(derandomize=True, deadline=None)
@given(p_lists)
def test_adjusted_p_value_is_the_lowest_rate_that_flags(p_values):
    adjusted = benjamini_hochberg(p_values, 0.5).adjusted
    for index, rate in enumerate(adjusted):
        if 0.001 < rate < 0.999:
            assert benjamini_hochberg(p_values, float(rate)).flagged[index]
            assert not benjamini_hochberg(p_values, float(rate) - 1e-6).flagged[index]


@pytest.mark.parametrize(("outliers", "shift"), [(0, 0.0), (20, 2.5), (60, 4.0)])
def test_realised_false_discovery_rate_is_at_most_the_target(outliers, shift):
    """Over 200 calibration sets and batches of conformal p-values, which depend on each other."""
    random, fdr, calibration, tests = np.random.default_rng(0), 0.1, 1000, 100
    shares, found = [], []
    for _ in range(200):
        inliers = random.normal(size=tests - outliers)
        scores = np.concatenate([inliers, random.normal(size=outliers) + shift])
        flagged = benjamini_hochberg(conformal_p_values(random.normal(size=calibration), scores), fdr).flagged
        shares.append(flagged[: len(inliers)].sum() / max(1, flagged.sum()))
        found.append(flagged[len(inliers) :].mean() if outliers else 1.0)
    assert np.mean(shares) <= fdr + 2 * np.std(shares) / math.sqrt(200)
    # It is no guarantee by silence: where there are outliers they are found, and normal inputs with them.
    assert np.mean(found) > 0.3
    assert np.mean(shares) > 0


def test_yekutieli_flags_a_part_of_what_hochberg_flags():
    p = np.random.default_rng(0).beta(0.3, 2.0, size=200)
    hochberg, yekutieli = benjamini_hochberg(p, 0.1).flagged, benjamini_yekutieli(p, 0.1).flagged
    assert yekutieli.any()
    assert (yekutieli <= hochberg).all()
    assert yekutieli.sum() < hochberg.sum()


@pytest.mark.parametrize(
    ("fdr", "tests", "discoveries"), [(0.1, 50, 1), (0.1, 50, 7), (0.07, 13, 2), (0.3, 4, 4)]
)
def test_least_calibration_size_is_the_least(fdr, tests, discoveries):
    least = least_calibration_size_for_fdr(fdr, tests, discoveries=discoveries)
    scores = [math.inf] * discoveries + [-math.inf] * (tests - discoveries)
    for size, possible in ((least, True), (least - 1, False)):
        flagged = benjamini_hochberg(conformal_p_values(np.arange(size), scores), fdr).flagged
        assert flagged.sum() == (discoveries if possible else 0)


def test_a_rate_that_could_never_flag_is_refused_with_what_it_takes():
    check_discoveries_possible(9, 0.1)
    with pytest.raises(SettingsError, match=r"8 calibration rows.* takes 9 "):
        check_discoveries_possible(8, 0.1)
    for size, possible in ((9, True), (8, False)):
        every = benjamini_hochberg(conformal_p_values(np.arange(size), [math.inf] * 20), 0.1).flagged
        assert every.all() == every.any() == possible


def test_no_tests_no_discoveries():
    flagged, adjusted = benjamini_hochberg([], 0.1)
    assert flagged.shape == adjusted.shape == (0,)


@pytest.mark.parametrize("p_values", [[0.1, math.nan], [1.1], [-0.1], [[0.1, 0.2]]])
def test_what_is_no_p_value_is_refused(p_values):
    with pytest.raises(DataError, match="p_values"):
        benjamini_hochberg(p_values, 0.1)


@pytest.mark.parametrize("fdr", [0.0, 1.0, -1.0, math.nan])
def test_impossible_rate_is_refused(fdr):
    for call in (
        lambda: benjamini_hochberg([0.5], fdr),
        lambda: least_calibration_size_for_fdr(fdr, 10),
        lambda: check_discoveries_possible(10, fdr),
    ):
        with pytest.raises(SettingsError, match="fdr"):
            call()


@pytest.mark.parametrize("discoveries", [0, 11])
def test_more_discoveries_than_tests_are_refused(discoveries):
    with pytest.raises(SettingsError, match="discoveries"):
        least_calibration_size_for_fdr(0.1, 10, discoveries=discoveries)
