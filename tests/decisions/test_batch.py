import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dissensus.decisions import batch_test
from dissensus.errors import DataError, SettingsError

floats = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=25, unique=True)


@settings(derandomize=True, deadline=None)
@given(floats, floats)
def test_statistics_are_the_textbook_ones(calibration, scores):
    scores = [s for s in scores if s not in calibration] or [2e6]
    above = np.mean([s > c for s in scores for c in calibration])
    assert batch_test(calibration, scores, resamples=1).statistic == pytest.approx(above, abs=1e-12)
    distance = batch_test(calibration, scores, alternative="different", resamples=1).statistic
    assert distance == pytest.approx(stats.ks_2samp(calibration, scores).statistic, abs=1e-12)


@pytest.mark.parametrize("alternative", ["more-unusual", "different"])
def test_p_value_is_that_of_all_orders(alternative):
    """Three of eight places for the batch: all 56 choices can be counted."""
    places, mine = range(8), (3, 6, 7)

    def statistic(batch):
        rest = [p for p in places if p not in batch]
        return batch_test(rest, list(batch), alternative=alternative, resamples=1).statistic

    observed = statistic(mine)
    exact = np.mean([statistic(b) >= observed - 1e-12 for b in itertools.combinations(places, 3)])
    rest = [p for p in places if p not in mine]
    p = batch_test(rest, mine, alternative=alternative, resamples=20_000).p_value
    assert p == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 20_000) + 1e-4)


@pytest.mark.parametrize("alternative", ["more-unusual", "different"])
def test_p_value_agrees_with_the_exact_law(alternative):
    random = np.random.default_rng(0)
    calibration, scores = random.normal(size=60), random.normal(size=25) + 0.35
    p = batch_test(calibration, scores, alternative=alternative, resamples=20_000).p_value
    exact = (
        stats.mannwhitneyu(scores, calibration, alternative="greater", method="exact")
        if alternative == "more-unusual"
        else stats.ks_2samp(scores, calibration, method="exact")
    ).pvalue
    assert p == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 20_000) + 1e-4)


@pytest.mark.parametrize("alternative", ["more-unusual", "different"])
@pytest.mark.parametrize("ties", [False, True])
def test_batches_like_the_calibration_inputs_are_rejected_as_rarely_as_promised(alternative, ties):
    random, p_values = np.random.default_rng(1), []
    for seed in range(400):
        scores = random.exponential(size=70)
        if ties:
            scores = np.floor(2 * scores)
        p_values.append(
            batch_test(scores[:50], scores[50:], alternative=alternative, resamples=99, seed=seed).p_value
        )
    for level in (0.05, 0.2, 0.5):
        rejected = sum(p <= level for p in p_values)
        assert stats.binomtest(rejected, 400, level, alternative="greater").pvalue > 0.01
        assert rejected > 0.4 * level * 400  # nor is it valid by silence


def test_each_alternative_sees_what_it_is_for():
    random = np.random.default_rng(2)
    calibration = random.normal(size=500)
    stranger, too_alike = random.normal(size=100) + 0.6, random.normal(size=100) * 0.3
    assert batch_test(calibration, stranger).p_value == 0.001
    assert batch_test(calibration, -stranger).p_value > 0.9
    assert batch_test(calibration, too_alike).p_value > 0.05
    assert batch_test(calibration, too_alike, alternative="different").p_value == 0.001
    assert batch_test(calibration, -stranger, alternative="different").p_value == 0.001


def test_large_sets_are_tested_piece_by_piece(monkeypatch):
    random = np.random.default_rng(3)
    calibration, scores = random.normal(size=300), random.normal(size=2000)
    expected = batch_test(calibration, scores, resamples=200)
    assert expected.batch_size == 2000
    monkeypatch.setattr("dissensus.decisions.batch.CELLS", 1000)
    pieces = batch_test(calibration, scores, resamples=200)
    assert pieces.statistic == expected.statistic
    assert pieces.p_value == pytest.approx(expected.p_value, abs=0.2)


def test_the_same_call_gives_the_same_answer():
    calibration, scores = np.arange(20) // 3, np.arange(10)
    assert batch_test(calibration, scores, seed=4) == batch_test(calibration, scores, seed=4)


@pytest.mark.parametrize("bad", [[], [math.nan], [[1.0]]])
def test_what_is_no_list_of_scores_is_refused(bad):
    with pytest.raises(DataError, match="scores"):
        batch_test([1.0, 2.0], bad)
    with pytest.raises(DataError, match="calibration"):
        batch_test(bad, [1.0])


def test_unknown_alternative_and_no_resamples_are_refused():
    with pytest.raises(SettingsError, match="alternative"):
        batch_test([1.0], [1.0], alternative="other")
    with pytest.raises(SettingsError, match="resamples"):
        batch_test([1.0], [1.0], resamples=0)
