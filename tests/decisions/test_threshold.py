import math

import numpy as np
import pytest
from scipy import stats

from dissensus.decisions import calibrated_threshold, conformal_threshold, false_alarm_interval
from dissensus.errors import SettingsError


@pytest.mark.parametrize(("size", "rate"), [(99, 0.05), (150, 0.1), (900, 0.05), (37, 0.3)])
def test_realised_rate_lies_in_the_interval_as_often_as_stated(size, rate):
    """Over 200 calibration sets; the realised rate is exact, from the law the scores are drawn from."""
    random, law = np.random.default_rng(0), stats.gumbel_r
    interval = false_alarm_interval(size, rate, level=0.8)
    realised = [
        law.sf(conformal_threshold(law.rvs(size=size, random_state=random), rate)) for _ in range(200)
    ]
    inside = sum(interval.low <= share <= interval.high for share in realised)
    # Neither more nor less often than stated: each set is a coin that falls inside with probability 0.8.
    assert stats.binomtest(inside, 200, 0.8).pvalue > 0.01
    assert stats.binomtest(sum(s < interval.low for s in realised), 200, 0.1).pvalue > 0.01


@pytest.mark.parametrize(("size", "tests"), [(120, 80), (400, 600)])
def test_share_among_finitely_many_inliers_lies_in_its_interval(size, tests):
    """Over 200 random splits of one set of scores into calibration and test."""
    random, rate, level = np.random.default_rng(1), 0.1, 0.9
    pool = random.lognormal(size=size + tests)
    interval = false_alarm_interval(size, rate, level=level, tests=tests)
    inside = 0
    for _ in range(200):
        order = random.permutation(pool)
        share = (order[size:] > conformal_threshold(order[:size], rate)).mean()
        inside += interval.low - 1e-9 <= share <= interval.high + 1e-9
    # Shares are multiples of 1/m: the interval holds exactly this often, a little more than stated.
    allowed = math.floor(rate * (size + 1))
    counts = stats.betabinom(tests, allowed, size + 1 - allowed)
    exact = counts.cdf(round(interval.high * tests)) - counts.cdf(round(interval.low * tests) - 1)
    assert level <= exact < level + 0.06
    assert stats.binomtest(inside, 200, exact).pvalue > 0.01


def test_interval_of_one_allowed_alarm_is_the_textbook_one():
    """k = 1: the threshold is the largest of n scores, and P(rate ≤ r) = 1 − (1 − r)ⁿ."""
    interval = false_alarm_interval(99, 0.01, level=0.9)
    assert interval.low == pytest.approx(1 - 0.95 ** (1 / 99), rel=1e-9)
    assert interval.high == pytest.approx(1 - 0.05 ** (1 / 99), rel=1e-9)


def test_many_tests_lead_to_the_interval_of_all_inliers():
    finite, infinite = false_alarm_interval(200, 0.1, tests=200_000), false_alarm_interval(200, 0.1)
    assert (finite.low, finite.high) == pytest.approx((infinite.low, infinite.high), abs=2e-4)


def test_more_calibration_narrows_the_interval():
    widths = [(i := false_alarm_interval(n, 0.05)).high - i.low for n in (99, 999, 9999)]
    assert widths[0] > 2 * widths[1] > 4 * widths[2] > 0


def test_threshold_knows_its_calibration():
    scores = np.random.default_rng(0).normal(size=250)
    found = calibrated_threshold(scores, 0.1, level=0.5)
    assert (found.value, found.calibration_size) == (conformal_threshold(scores, 0.1), 250)
    assert found.interval == false_alarm_interval(250, 0.1, level=0.5)
    assert found.interval.low < found.false_alarm_rate < found.interval.high


def test_too_few_scores_promise_no_alarm():
    found = calibrated_threshold([1.0, 2.0], 0.05)
    assert found.value == math.inf
    assert (found.interval.low, found.interval.high) == (0.0, 0.0)


def test_a_rate_close_to_one_flags_all_but_the_lowest():
    assert conformal_threshold([3.0, 1.0, 2.0], 1 - 1e-12) == 1.0


@pytest.mark.parametrize(
    ("arguments", "named"),
    [({"level": 0.0}, "level"), ({"level": 1.0}, "level"), ({"tests": 0}, "tests")],
)
def test_impossible_wishes_are_refused(arguments, named):
    with pytest.raises(SettingsError, match=named):
        false_alarm_interval(100, 0.1, **arguments)
