"""The chosen false-alarm rate is kept on inputs like the training data, and strange ones are found."""

import numpy as np
import pytest
from scipy import stats

from dissensus.scores import SCORES


def draw_rows(seed, count):
    """A correlated cloud of five dimensions that has two."""
    rng = np.random.default_rng(seed)
    mixing = np.random.default_rng(0).normal(size=(2, 5))
    return rng.normal(size=(count, 2)) @ mixing + 0.1 * rng.normal(size=(count, 5))


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """The draws are the same whatever the score: the first fit makes them, the others go on after them."""
    return tmp_path_factory.mktemp("checkpoint")


@pytest.mark.parametrize("statistic", SCORES)
def test_the_rate_is_kept_on_fresh_inliers(quick, statistic, checkpoint):
    rate, calibration, fresh = 0.1, 300, 700
    gate = quick(statistic=statistic, false_alarm_rate=rate, batch_size=128).fit(
        draw_rows(1, 20 * calibration // 3), checkpoint=checkpoint
    )
    assert len(gate.calibration_scores_) == calibration
    flagged = int((gate.predict(draw_rows(2, fresh)) == -1).sum())
    # Given n calibration scores the number of false alarms is beta-binomial: both sets are samples.
    allowed = int(rate * (calibration + 1))
    law = stats.betabinom(fresh, allowed, calibration + 1 - allowed)
    assert law.ppf(1e-3) <= flagged <= law.isf(1e-3)


def test_p_values_are_uniform_on_fresh_inliers(quick):
    gate = quick(batch_size=128).fit(draw_rows(1, 4000))
    p = gate.p_values(draw_rows(2, 400))
    # The calibration scores, 600 of them, are a sample too: hence the two-sample form.
    assert stats.ks_2samp(p, np.arange(1, 602) / 601).pvalue > 1e-3


def test_far_outliers_are_flagged(quick):
    gate = quick(statistic="kl", draws=8, epochs=20, false_alarm_rate=0.05).fit(draw_rows(1, 600))
    outliers = np.random.default_rng(3).normal(size=(50, 5)) * 30
    assert (gate.predict(outliers) == -1).mean() > 0.9
    assert gate.p_values(outliers).max() < 0.2


def test_strange_pictures_are_flagged(quick, pictures):
    gate = quick(statistic="mean-ll", epochs=20).fit(pictures)
    assert (gate.predict(255 - pictures) == -1).mean() > 0.9
