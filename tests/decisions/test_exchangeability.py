"""Recent inputs against calibration inputs: as rarely wrong as promised, and right where there is a shift."""

import json
import math

import numpy as np
import pytest
from scipy import stats

from dissensus.decisions import batch_test, chance_of_alarms, check_exchangeable, conformal_threshold
from dissensus.errors import DataError, SettingsError


def scores(count, seed=0):
    return np.random.default_rng(seed).normal(size=count)


@pytest.mark.parametrize(("calibration", "recent"), [(20, 5), (60, 150)])
@pytest.mark.parametrize("ties", [False, True])
def test_without_a_shift_it_is_seen_as_rarely_as_promised(calibration, recent, ties):
    random, p_values = np.random.default_rng(1), []
    for seed in range(400):
        both = random.exponential(size=calibration + recent)
        if ties:
            both = np.floor(2 * both)
        found = check_exchangeable(both[:calibration], both[calibration:], 0.1, resamples=99, seed=seed)
        p_values.append(found.p_value)
    for level in (0.05, 0.2, 0.5):
        seen = sum(p <= level for p in p_values)
        assert stats.binomtest(seen, 400, level, alternative="greater").pvalue > 0.01
        assert seen > 0.2 * level * 400  # nor is it valid by silence


def test_the_rank_sum_part_is_the_textbook_test():
    calibration, recent = scores(40), scores(25, seed=1) - 0.4
    for one, other in ((calibration, recent), (recent, calibration)):  # either may be the larger
        found = batch_test(one, other, alternative="shifted", resamples=20_000)
        exact = stats.mannwhitneyu(other, one, alternative="two-sided", method="exact")
        assert found.statistic == pytest.approx(exact.statistic / (40 * 25), abs=1e-12)
        error = math.sqrt(exact.pvalue * (1 - exact.pvalue) / 20_000)
        assert found.p_value == pytest.approx(exact.pvalue, abs=4 * error + 1e-4)


SHIFTS = {
    "none": lambda usual: usual,
    "higher": lambda usual: usual + 0.6,
    "lower": lambda usual: usual - 0.6,
    "longer-tail": lambda usual: np.where(np.arange(200) % 8 == 0, np.abs(usual) + 5, usual - 0.3),
}


@pytest.mark.parametrize("shift", SHIFTS)
def test_the_answer_says_which_way_and_what_to_do(shift):
    calibration, recent = scores(500), SHIFTS[shift](scores(200, seed=1))
    found = check_exchangeable(calibration, recent, 0.05)
    assert found.shift == shift
    assert found.exchangeable == (shift == "none")
    assert found.above == (recent > conformal_threshold(calibration, 0.05)).sum()
    assert found.expected_above == pytest.approx(200 * 25 / 501)
    assert found.scores_higher == pytest.approx((recent[:, None] > calibration).mean())
    assert f"{found.above} of 200 " in found.sentence
    assert "where about 10 would" in found.sentence
    assert ("dissensus calibrate" in found.sentence) == (shift != "none")
    assert json.loads(json.dumps(found.to_dict()))["sentence"] == found.sentence


def test_scores_that_rise_below_the_threshold_are_no_false_alarms_yet():
    calibration = scores(500)
    recent = np.sort(calibration)[100:460]
    found = check_exchangeable(calibration, recent, 0.05)
    assert found.shift == "higher"
    assert found.above == 0
    assert "may soon raise too many false alarms" in found.sentence


def test_both_parts_count_twice():
    calibration, recent = scores(500), scores(200, seed=1)
    found = check_exchangeable(calibration, recent, 0.05, seed=3)
    rank_sum = batch_test(calibration, recent, alternative="shifted", seed=3).p_value
    tail = chance_of_alarms(500, 0.05, tests=200, alarms=found.above)
    assert found.p_value == min(1, 2 * min(rank_sum, tail))


def test_few_inputs_prove_little_and_it_says_so():
    few, many = (check_exchangeable(scores(500), scores(count, seed=1), 0.05) for count in (10, 400))
    assert "only a large shift would show" in few.sentence
    assert "only a large shift would show" not in many.sentence


def test_too_few_calibration_inputs_for_any_alarm():
    found = check_exchangeable([1.0, 2.0], [9.0, 9.0, 9.0], 0.05)
    assert (found.above, found.expected_above) == (0, 0)


def test_the_same_call_gives_the_same_answer():
    tied = np.arange(40) // 7
    assert check_exchangeable(tied, tied[:9], 0.1, seed=4) == check_exchangeable(tied, tied[:9], 0.1, seed=4)


def test_what_cannot_be_tested_is_refused():
    for bad in ([], [math.nan], [[1.0]]):
        with pytest.raises(DataError):
            check_exchangeable([1.0, 2.0], bad, 0.1)
    with pytest.raises(SettingsError, match="level"):
        check_exchangeable([1.0], [1.0], 0.1, level=0)
    with pytest.raises(SettingsError, match="false_alarm_rate"):
        check_exchangeable([1.0], [1.0], 2)
