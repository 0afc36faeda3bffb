import io
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from dissensus.decisions import DriftMonitor
from dissensus.decisions.drift import bets
from dissensus.errors import DataError, SettingsError


def log_capital_by_definition(p_values):
    """Every stake on its own, in plain numbers."""
    stakes = np.full(len(bets(0.5)), 1 / len(bets(0.5)))
    path = []
    for t, p in enumerate(p_values, start=1):
        stakes = (t * stakes + stakes.mean()) / (t + 1) * bets(p)
        path.append(math.log(stakes.sum()))
    return path


def p_values_seen(monitor, scores):
    """What the monitor ranks the scores at."""
    ranks = []
    rank, monitor._rank = monitor._rank, lambda *a: ranks.append(rank(*a)) or ranks[-1]
    monitor.update(scores)
    return ranks


@pytest.mark.parametrize("number", range(len(bets(0.5))))
def test_no_bet_wins_on_average(number):
    mean, _ = integrate.quad(lambda p: bets(p)[number], 0, 1)
    assert mean == pytest.approx(1, rel=1e-6)


@settings(derandomize=True, deadline=None)
@given(
    st.lists(st.integers(-4, 4).map(float), max_size=20), st.lists(st.integers(-4, 4).map(float), max_size=20)
)
def test_ranks_lie_where_the_definition_says(calibration, stream):
    ranks = p_values_seen(DriftMonitor(calibration), stream)
    for index, (score, p) in enumerate(zip(stream, ranks, strict=True)):
        before = calibration + stream[: index + 1]
        above, equal = sum(s > score for s in before), sum(s == score for s in before)
        assert above / len(before) < p <= (above + equal) / len(before) + 1e-12


@pytest.mark.parametrize("ties", [False, True])
def test_ranks_are_independent_and_uniform_on_an_exchangeable_stream(ties):
    scores = np.random.default_rng(0).normal(size=4030)
    if ties:
        scores = scores.round()
    p = np.array(p_values_seen(DriftMonitor(scores[:30]), scores[30:]))
    assert stats.kstest(p, "uniform").pvalue > 0.01
    # Against a fixed calibration set of 30 neighbours would all be too high or too low together.
    assert abs(stats.spearmanr(p[1:], p[:-1]).statistic) < 3 / math.sqrt(len(p))
    blocks = p.reshape(-1, 100).mean(axis=1)
    assert blocks.var() * 1200 == pytest.approx(1, abs=3 * math.sqrt(2 / len(blocks)))


def test_capital_is_what_the_definition_says():
    random = np.random.default_rng(1)
    scores, calibration = random.normal(size=80) + 0.5, random.normal(size=100)
    ranks = p_values_seen(DriftMonitor(calibration), scores)
    path = DriftMonitor(calibration).update(scores)
    np.testing.assert_allclose(path, log_capital_by_definition(ranks), rtol=1e-9, atol=1e-12)


def test_exchangeable_streams_cross_the_level_as_rarely_as_promised():
    """300 streams of 300 scores, with a small calibration set, where a fixed one would fail."""
    random, delta, streams = np.random.default_rng(2), 0.1, 300
    alarms, final = 0, []
    for _ in range(streams):
        monitor = DriftMonitor(random.gumbel(size=20), false_alarm_probability=delta)
        final.append(math.exp(monitor.update(random.gumbel(size=300))[-1]))
        alarms += monitor.alarm
    assert stats.binomtest(alarms, streams, delta, alternative="greater").pvalue > 0.01
    assert alarms > 0  # a gambler who never bets would pass the line above


def false_alarms(calibration, streams, random, *, delta, confidence):
    """How many of so many streams without drift, all with one calibration set, raise the alarm."""
    monitor = DriftMonitor(calibration, false_alarm_probability=delta, confidence=confidence)
    count = 0
    for _ in range(streams):
        monitor.reset()  # a renewal: it keeps the calibration set
        path = monitor.update(random.normal(size=100))
        assert monitor.alarm == (path.max() >= -math.log(delta * (1 - confidence)))
        count += monitor.alarm
    return count


def test_an_unlucky_calibration_set_alarms_at_most_renewals_unless_there_is_a_margin():
    """Of 100 calibration sets that which lies lowest: every stream looks high beside it."""
    random, delta = np.random.default_rng(7), 0.2
    unlucky = min((random.normal(size=20) for _ in range(100)), key=np.mean)
    plain = false_alarms(unlucky, 40, random, delta=delta, confidence=0.0)
    assert stats.binomtest(plain, 40, delta, alternative="greater").pvalue < 1e-3
    careful = false_alarms(unlucky, 40, random, delta=delta, confidence=0.99)
    assert stats.binomtest(careful, 40, delta, alternative="greater").pvalue > 0.05


def test_with_a_margin_the_promise_holds_for_as_many_calibration_sets_as_it_says():
    random, delta, confidence = np.random.default_rng(8), 0.2, 0.5
    found = [
        false_alarms(random.normal(size=20), 20, random, delta=delta, confidence=confidence)
        for _ in range(30)
    ]
    assert np.mean([count > 20 * delta for count in found]) <= 1 - confidence
    assert sum(found) > 0  # a monitor that never alarms would pass the line above


def test_what_the_margin_costs():
    """A drift by half a standard deviation, at 95% confidence: about 1.7 times the delay."""
    random, delays = np.random.default_rng(9), {0.0: [], 0.95: []}
    for _ in range(40):
        calibration, stream = random.normal(size=1000), random.normal(size=400) + 0.5
        for confidence, found in delays.items():
            monitor = DriftMonitor(calibration, confidence=confidence)
            monitor.update(stream)
            found.append(math.inf if monitor.alarm_at is None else monitor.alarm_at)
    plain, careful = (float(np.median(found)) for found in delays.values())
    assert 1.2 < careful / plain < 2.2


DRIFTS = {
    "a little stranger": lambda random: random.normal(size=600) + 0.7,
    "more usual": lambda random: random.normal(size=600) - 0.7,
    "a few far outliers": lambda random: random.normal(size=600) + 8 * (random.random(600) < 0.06),
}


@pytest.mark.parametrize("kind", DRIFTS)
def test_drift_after_a_long_normal_time_raises_the_alarm(kind):
    random = np.random.default_rng(3)
    monitor = DriftMonitor(random.normal(size=500), false_alarm_probability=0.01)
    monitor.update(random.normal(size=1500))
    assert not monitor.alarm
    path = monitor.update(DRIFTS[kind](random))
    assert monitor.alarm
    assert monitor.alarm_at == 1500 + int(np.argmax(path >= math.log(100)))
    assert monitor.log_martingale == path[-1]
    assert monitor.seen == 2100


def test_a_drift_is_seen_soon_even_after_a_very_long_quiet_time():
    random = np.random.default_rng(6)
    monitor = DriftMonitor(random.normal(size=500))
    quiet = monitor.update(random.normal(size=20_000))
    assert quiet[-1] > -15  # the price of waiting grows like log t
    monitor.update(random.normal(size=200) + 1)
    assert monitor.alarm


def test_the_alarm_stays_until_reset():
    random = np.random.default_rng(4)
    monitor = DriftMonitor(random.normal(size=300))
    monitor.update([*random.normal(size=20) + 1.5, *random.normal(size=3000)])
    first = monitor.alarm_at
    assert monitor.log_martingale < math.log(100)  # the capital has gone down again
    assert monitor.alarm
    assert monitor.alarm_at == first
    monitor.reset()
    assert (monitor.alarm, monitor.alarm_at, monitor.log_martingale, monitor.seen) == (False, None, 0.0, 0)


def test_a_lone_outlier_is_no_drift():
    random = np.random.default_rng(5)
    monitor = DriftMonitor(random.normal(size=300))
    monitor.update([*random.normal(size=50), 1e9, *random.normal(size=50)])
    assert not monitor.alarm


@settings(derandomize=True, deadline=None, max_examples=30)
@given(st.lists(st.integers(0, 3).map(float), max_size=30), st.integers(0, 30))
def test_the_answer_does_not_depend_on_batches_nor_on_a_restart(stream, cut):
    whole = DriftMonitor([0.0, 1.0, 1.0, 2.0], seed=7)
    expected = whole.update(stream)
    parts = DriftMonitor([2.0, 1.0, 0.0, 1.0], seed=7)
    first = parts.update(stream[:cut])
    file = io.BytesIO()
    np.savez(file, **parts.state())
    file.seek(0)
    with np.load(file) as state:
        again = DriftMonitor.restore(state)
    np.testing.assert_array_equal(np.concatenate([first, again.update(stream[cut:])]), expected)
    assert again.alarm_at == whole.alarm_at
    assert again.seen == whole.seen


def test_a_restored_monitor_can_be_reset():
    monitor = DriftMonitor([1.0, 2.0, 3.0], false_alarm_probability=0.2, confidence=0.5)
    monitor.update([9.0] * 40)
    again = DriftMonitor.restore(monitor.state())
    assert again.alarm
    assert (again.false_alarm_probability, again.confidence) == (0.2, 0.5)
    assert again.alarm_level == pytest.approx(math.log(10))
    for one in (monitor, again):
        one.reset()
    np.testing.assert_array_equal(monitor.update([1.0, 2.0]), again.update([1.0, 2.0]))


def test_state_is_a_copy():
    monitor = DriftMonitor([1.0, 2.0, 3.0])
    state = monitor.state()
    before = {name: array.copy() for name, array in state.items()}
    monitor.update([5.0, 6.0])
    for name, array in before.items():
        np.testing.assert_array_equal(state[name], array)


DAMAGE = {
    "missing": lambda s: s.pop("stakes"),
    "not a number": lambda s: s.update(log_capital=np.array([math.nan])),
    "other stakes": lambda s: s.update(stakes=np.ones(3) / 3),
    "stakes of more than all": lambda s: s.update(stakes=s["stakes"] * 2),
    "negative stake": lambda s: s.update(stakes=s["stakes"] - np.array([2, *-np.ones(7) * 2 / 7])),
    "not in order": lambda s: s.update(seen=s["seen"][::-1]),
    "fewer than calibration": lambda s: s.update(seen=s["seen"][:2]),
    "never drawn": lambda s: s.update(counts=np.array([0, 0, -1])),
    "too few counts": lambda s: s.update(counts=np.array([0])),
    "text": lambda s: s.update(seen=np.array(["a", "b"])),
    "impossible confidence": lambda s: s.update(confidence=np.array([1.0])),
    "impossible probability": lambda s: s.update(false_alarm_probability=np.array([7.0])),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_state_is_refused(damage):
    monitor = DriftMonitor([1.0, 2.0, 3.0])
    monitor.update([4.0, 5.0])
    state = monitor.state()
    DAMAGE[damage](state)
    with pytest.raises(DataError, match="drift monitor"):
        DriftMonitor.restore(state)


def test_infinite_scores_are_ranked_and_nan_is_refused_before_anything_changes():
    monitor = DriftMonitor([0.0, math.inf])
    assert np.isfinite(monitor.update([math.inf, -math.inf])).all()
    with pytest.raises(DataError, match="NaN"):
        monitor.update([1.0, math.nan])
    assert monitor.seen == 2
    with pytest.raises(DataError, match="shape"):
        monitor.update([[1.0]])


def test_a_long_certain_drift_does_not_overflow():
    monitor = DriftMonitor(np.zeros(10))
    path = monitor.update(np.arange(1.0, 3001.0))
    assert np.isfinite(path).all()
    assert path[-1] > 710  # where plain numbers would end


@pytest.mark.parametrize("probability", [0.0, 1.0, math.nan])
def test_impossible_probability_is_refused(probability):
    with pytest.raises(SettingsError, match="false_alarm_probability"):
        DriftMonitor([1.0], false_alarm_probability=probability)


@pytest.mark.parametrize("confidence", [-0.1, 1.0, math.nan])
def test_impossible_confidence_is_refused(confidence):
    with pytest.raises(SettingsError, match="confidence"):
        DriftMonitor([1.0], confidence=confidence)
