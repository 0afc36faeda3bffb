"""A rate that adapts: its bound is arithmetic, and holds on every sequence whatever."""

import itertools
import json
import math
from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.decisions import AdaptiveRate, conformal_p_values
from dissensus.errors import DataError, SettingsError

SLACK = 1 + 1e-9  # for rounding


def run(rate, p_values, bound=None):
    """Decides about normal inputs with these p-values, each reported at once; the decisions."""
    decisions = []
    for p in p_values:
        decisions.append(rate.flags(p))
        rate.update(decisions[-1], normal=True)
        if bound is not None:
            bound()
    return decisions


@pytest.mark.parametrize("target", [0.05, 0.5])
@pytest.mark.parametrize("step", [0.005, 0.3, 2.0])
@pytest.mark.parametrize("start", [0.0, None, 1.0])
def test_the_bound_holds_at_every_time_of_every_sequence_of_extremes(target, step, start):
    """All 1,024 sequences of ten p-values that are as low or as high as they can be."""
    for p_values in itertools.product((1e-9, 1.0), repeat=10):
        rate = AdaptiveRate(target, step=step, start=start)

        def bound(rate=rate):
            assert abs(rate.false_alarms / rate.normals - target) <= rate.bound() * SLACK
            assert -step * SLACK <= rate.rate <= (1 + step) * SLACK

        run(rate, p_values, bound)


ADVERSARIES = {
    "always strange": lambda _: 1e-9,
    "always usual": lambda _: 1.0,
    "flagged by a hair": lambda rate: min(1.0, max(1e-9, rate)),
    "missed by a hair": lambda rate: min(1.0, max(1e-9, rate + 1e-9)),
}


@pytest.mark.parametrize("adversary", ADVERSARIES)
def test_the_bound_holds_against_one_who_knows_the_rate(adversary):
    rate = AdaptiveRate(0.1, step=0.02)
    for _ in range(3000):
        run(rate, [ADVERSARIES[adversary](rate.rate)])
        assert abs(rate.false_alarms / rate.normals - 0.1) <= rate.bound() * SLACK
    assert rate.bound() == pytest.approx((0.9 + 0.02) / (0.02 * 3000))


@settings(derandomize=True, deadline=None)
@given(st.lists(st.floats(1e-6, 1), min_size=1, max_size=60), st.integers(0, 8), st.floats(0.001, 1))
def test_late_reports_widen_the_bound_by_a_step_each(p_values, waiting, step):
    rate, due = AdaptiveRate(0.2, step=step), deque()
    for p in p_values:
        due.append(rate.flags(p))
        if len(due) > waiting:
            rate.update(due.popleft(), normal=True)
            assert abs(rate.false_alarms / rate.normals - 0.2) <= rate.bound(waiting=waiting) * SLACK


def test_with_drift_the_rate_holds_where_a_fixed_one_breaks():
    """Normal inputs that score ever higher: 3,000 of them, two standard deviations in the end."""
    random = np.random.default_rng(0)
    calibration = random.normal(size=500)
    p_values = conformal_p_values(calibration, random.normal(size=3000) + np.linspace(0, 2, 3000))
    rate = AdaptiveRate(0.1, step=0.01)
    flagged = np.array(run(rate, p_values.tolist()))
    assert (p_values <= 0.1).mean() > 0.3
    assert abs(flagged.mean() - 0.1) <= rate.bound()
    # Not only on the whole: in every third of the time as well, for they are sequences too.
    for third in np.split(flagged, 3):
        assert abs(third.mean() - 0.1) <= (1 + 2 * 0.01) / (0.01 * 1000)
        assert abs(third.mean() - 0.1) < 0.03


def test_without_drift_it_flags_about_what_a_fixed_rate_flags():
    random = np.random.default_rng(1)
    p_values = conformal_p_values(random.normal(size=2000), random.normal(size=2000))
    flagged = np.array(run(AdaptiveRate(0.1, step=0.005), p_values.tolist()))
    assert (flagged == (p_values <= 0.1)).mean() > 0.95


def test_outliers_change_nothing():
    rate = AdaptiveRate(0.1)
    rate.update(True, normal=False)
    rate.update(False, normal=False)
    assert (rate.rate, rate.normals, rate.false_alarms) == (0.1, 0, 0)
    assert rate.bound() == math.inf


def test_it_goes_on_from_its_state_in_json():
    p_values = np.random.default_rng(2).uniform(1e-3, 1, size=400).tolist()
    whole, first = AdaptiveRate(0.1, step=0.05, start=0.3), AdaptiveRate(0.1, step=0.05, start=0.3)
    expected = run(whole, p_values)
    before = run(first, p_values[:150])
    again = AdaptiveRate.restore(json.loads(json.dumps(first.state())))
    assert before + run(again, p_values[150:]) == expected
    assert again.state() == whole.state()


DAMAGE = {
    "missing": lambda s: s.pop("step"),
    "impossible target": lambda s: s.update(target=2.0),
    "text": lambda s: s.update(start="high"),
    "fewer than none": lambda s: s.update(false_alarms=-1),
    "more than all": lambda s: s.update(false_alarms=99),
    "no whole number": lambda s: s.update(normals=1.5),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_state_is_refused(damage):
    state = AdaptiveRate(0.1).state()
    DAMAGE[damage](state)
    with pytest.raises(DataError, match="adaptive rate"):
        AdaptiveRate.restore(state)


def test_impossible_settings_and_p_values_are_refused():
    for target in (0.0, 1.0, math.nan):
        with pytest.raises(SettingsError, match="target"):
            AdaptiveRate(target)
    for step in (0.0, math.inf, math.nan):
        with pytest.raises(SettingsError, match="step"):
            AdaptiveRate(0.1, step=step)
    with pytest.raises(SettingsError, match="start"):
        AdaptiveRate(0.1, start=1.5)
    for p in (0.0, 1.1, math.nan):
        with pytest.raises(DataError, match="p-value"):
            AdaptiveRate(0.1).flags(p)
    with pytest.raises(SettingsError, match="waiting"):
        AdaptiveRate(0.1).bound(waiting=-1)
