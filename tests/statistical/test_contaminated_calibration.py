"""The realised false-alarm rate where calibration inputs are outliers, against the exact bounds.

Every simulated calibration set decides about one normal input of its own, so that decisions are independent
and their number is binomial.
"""

import numpy as np
import pytest

from dissensus.decisions import (
    allowed_alarms,
    conformal_threshold,
    contaminated_rate,
    false_alarm_interval,
    rate_despite_outliers,
)
from dissensus.errors import SettingsError

SETS = 20_000
N, RATE = 199, 0.1


def realised(outliers, shift, rate=RATE, *, asked_about=0.0, seed=0):
    """The share of sets, with so many outliers shifted so far, whose threshold a new input lies above."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(SETS, N))
    scores[:, :outliers] += shift
    allowed = allowed_alarms(N, rate)
    threshold = np.partition(scores, N - allowed, axis=1)[:, N - allowed]
    assert threshold[0] == pytest.approx(conformal_threshold(scores[0], rate), rel=1e-9)
    return (rng.normal(asked_about, size=SETS) > threshold).mean()


def margin(rate):
    """Five standard deviations of a share of all sets."""
    return 5 * np.sqrt(max(rate * (1 - rate), 1 / SETS) / SETS)


@pytest.mark.parametrize("outliers", [0, 4, 10, 19, 20, 40])
def test_outliers_above_all_normal_inputs_make_the_lower_bound_exact(outliers):
    low = contaminated_rate(N, outliers, RATE).low
    assert realised(outliers, 100.0) == pytest.approx(low, abs=margin(low))
    share = outliers / N
    assert low == pytest.approx(max(0.0, RATE - share) / (1 - share), abs=1 / (N - outliers + 1))


@pytest.mark.parametrize("outliers", [0, 10, 40])
def test_outliers_below_all_normal_inputs_make_the_upper_bound_exact(outliers):
    high = contaminated_rate(N, outliers, RATE).high
    assert realised(outliers, -100.0) == pytest.approx(high, abs=margin(high))
    assert high <= RATE / (1 - outliers / (N + 1)) + 1e-12


@pytest.mark.parametrize("shift", [0.0, 0.5, 1.0, 2.0, 4.0])
def test_outliers_that_score_no_lower_keep_the_rate(shift):
    found, bounds = realised(20, shift, seed=1), contaminated_rate(N, 20, RATE)
    assert bounds.low - margin(bounds.low) <= found <= RATE + margin(RATE)


def test_outliers_that_score_a_little_lower_stay_below_the_upper_bound():
    found, high = realised(40, -1.0, seed=2), contaminated_rate(N, 40, RATE).high
    assert RATE < found < high


def test_with_no_more_alarms_than_outliers_normal_inputs_raise_none_and_few_outliers_are_found():
    """A new outlier is one of m + 1 that are exchangeable, and the k highest of them are flagged."""
    outliers, allowed = 40, allowed_alarms(N, RATE)
    assert realised(outliers, 100.0) == 0
    found = realised(outliers, 100.0, asked_about=100.0)
    assert found == pytest.approx(allowed / (outliers + 1), abs=margin(0.5))


def test_the_rate_to_ask_for_instead():
    share = 0.1
    asked = rate_despite_outliers(share, 0.05)
    assert realised(round(share * N), 100.0, asked) == pytest.approx(0.05, abs=margin(0.05) + 1 / N)
    assert realised(round(share * N), 100.0, asked, asked_about=100.0) > 0.9


def test_without_outliers_it_is_the_rate():
    assert contaminated_rate(199, 0, 0.1) == (0.1, 0.1)
    interval = false_alarm_interval(199, 0.1)
    assert interval.low < 0.1 < interval.high
    assert contaminated_rate(5, 5, 0.5) == (0.0, 1.0)
    for wrong in (-1, 6):
        with pytest.raises(SettingsError, match="outliers must be 0 to 5"):
            contaminated_rate(5, wrong, 0.5)
