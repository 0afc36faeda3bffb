import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.decisions import conformal_p_values, conformal_threshold, least_calibration_size, rounded
from dissensus.errors import SettingsError

scores = st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=60)


@settings(derandomize=True, deadline=None)
@given(scores, scores)
def test_p_values_are_the_count_in_the_definition(calibration, new):
    expected = [(1 + sum(c >= s for c in calibration)) / (len(calibration) + 1) for s in new]
    np.testing.assert_allclose(conformal_p_values(calibration, new), expected, rtol=1e-15)


@settings(derandomize=True, deadline=None)
@given(scores, scores, st.sampled_from([0.01, 0.05, 0.1, 0.25, 1 / 3, 0.5]))
def test_threshold_and_p_value_say_the_same(calibration, new, rate):
    flagged = np.asarray(new) > conformal_threshold(calibration, rate)
    np.testing.assert_array_equal(flagged, conformal_p_values(calibration, new) <= rate + 1e-12)


def test_false_alarm_rate_holds_on_average():
    random = np.random.default_rng(0)
    alarms = [
        (random.gumbel(size=200) > conformal_threshold(random.gumbel(size=99), 0.05)).mean()
        for _ in range(2000)
    ]
    # Exactly α here, because α(n+1) is a whole number.
    assert np.mean(alarms) == pytest.approx(0.05, abs=4 * np.std(alarms) / math.sqrt(2000))


@pytest.mark.parametrize("rate", [0.5, 0.05, 0.01, 0.001, 0.07])
def test_least_calibration_size_is_the_least(rate):
    least = least_calibration_size(rate)
    assert math.isfinite(conformal_threshold(np.arange(least), rate))
    assert conformal_threshold(np.arange(least - 1), rate) == math.inf


def test_infinite_scores_are_extreme_but_allowed():
    assert conformal_p_values([1.0, math.inf], [math.inf, 0.0]).tolist() == [2 / 3, 1.0]


@pytest.mark.parametrize("rate", [0.0, 1.0, -1, math.nan])
def test_impossible_rate_is_refused(rate):
    with pytest.raises(SettingsError, match="false_alarm_rate"):
        conformal_threshold([1.0], rate)
    with pytest.raises(SettingsError, match="false_alarm_rate"):
        least_calibration_size(rate)


@pytest.mark.parametrize("scale", [1e-300, 1e-5, 1.0, 3e7, 1e300])
def test_rounding_errors_break_no_tie(scale):
    """An input of the calibration set, scored by another kernel, still counts as one of them."""
    random = np.random.default_rng(0)
    calibration = np.repeat(random.normal(size=100) * scale, 2)
    for sign in (-1, 1):
        again = calibration * (1 + sign * 4e-16)
        p_values = conformal_p_values(calibration, again)
        np.testing.assert_array_equal(p_values, conformal_p_values(calibration, calibration))
        flagged = rounded(again) > conformal_threshold(calibration, 0.1)
        np.testing.assert_array_equal(flagged, p_values <= 0.1)


def test_rounding_keeps_what_counts():
    scores = np.array([-np.inf, -3.5, -1e-310, 0.0, 1 / 3, 7.0, 1e308, np.inf])
    np.testing.assert_allclose(rounded(scores), scores, rtol=1e-12)
    np.testing.assert_array_equal(rounded(rounded(scores)), rounded(scores))
    assert np.isnan(rounded([np.nan])).all()
    near = 1 + np.arange(50) * 2e-12
    assert (np.diff(rounded(near)) > 0).all()
