"""What confirming does to the false-alarm rate, by simulation of scores alone."""

import numpy as np
import pytest

from dissensus.decisions import conformal_p_values, conformal_threshold, joining
from dissensus.errors import SettingsError

RATE, CALIBRATION, STREAM, ROUNDS = 0.1, 99, 300, 4
MANY = 1500  # streams
AUDITED = 0.3


def all_looked_at(flagged, looked_at, random):
    """The naive rule: whoever was looked at and called normal joins."""
    return np.flatnonzero(looked_at)


def only_alarms(flagged, looked_at, random):
    """The naive rule of those who look at alarms alone."""
    return np.flatnonzero(flagged)


def honest(flagged, looked_at, random):
    seen = np.flatnonzero(looked_at)
    return seen[joining(flagged[seen], AUDITED, random)]


def after_rounds(rule, seed=0):
    """Realised false-alarm rate and power of gates that were told of four streams, each of its own alarms."""
    random = np.random.default_rng(seed)
    alarms, power, sizes = [], [], []
    for _ in range(MANY):
        calibration = random.normal(size=CALIBRATION)
        for _ in range(ROUNDS):
            scores = random.normal(size=STREAM)
            flagged = scores > conformal_threshold(calibration, RATE)
            looked_at = flagged | (random.random(STREAM) < AUDITED)
            calibration = np.append(calibration, scores[rule(flagged, looked_at, random)])
        alarms.append(np.mean(conformal_p_values(calibration, random.normal(size=100)) <= RATE))
        power.append(np.mean(conformal_p_values(calibration, random.normal(2.0, size=100)) <= RATE))
        sizes.append(len(calibration))
    error = np.std(alarms) / np.sqrt(MANY)
    return np.mean(alarms), error, np.mean(power), np.mean(sizes)


def test_alarms_that_join_make_alarms_rarer_than_was_asked_for():
    for rule in (only_alarms, all_looked_at):
        rate, error, power, _ = after_rounds(rule)
        assert rate < RATE - 0.02
        assert rate < RATE - 10 * error
        assert power < after_rounds(honest)[2] - 0.05


def test_the_honest_rule_keeps_the_rate_that_was_asked_for():
    rate, error, _, size = after_rounds(honest)
    assert abs(rate - RATE) <= 4 * error
    assert size == pytest.approx(CALIBRATION + ROUNDS * AUDITED * STREAM, rel=0.02)


def test_its_p_values_are_uniform():
    random = np.random.default_rng(1)
    found = []
    for _ in range(3000):
        calibration, scores = random.normal(size=49), random.normal(size=100)
        flagged = scores > conformal_threshold(calibration, 0.2)
        looked_at = flagged | (random.random(100) < AUDITED)
        joined = scores[honest(flagged, looked_at, random)]
        found.append(conformal_p_values(np.append(calibration, joined), [random.normal()])[0])
    for level in (0.05, 0.2, 0.5):
        assert (
            abs(np.mean(np.array(found) <= level) - level) <= 4 * np.sqrt(level * (1 - level) / 3000) + 0.01
        )


def test_everything_or_nothing():
    random = np.random.default_rng(0)
    flagged = random.random(50) < 0.5
    assert joining(flagged, 1.0, random).all()
    assert not joining(flagged, 0.0, random).any()
    with pytest.raises(SettingsError, match="from 0 to 1"):
        joining(flagged, 1.1, random)
