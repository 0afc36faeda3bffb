"""The AUROC's interval against the definition, the bootstrap, and its own promise of coverage."""

import math

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import norm

from dissensus.errors import DataError, SettingsError
from dissensus.evaluation import auroc, auroc_interval


def normal_scores(rng, n_in, n_out, shift):
    return rng.normal(size=n_in), rng.normal(shift, 1.0, size=n_out)


def test_agrees_with_delongs_variance_over_all_pairs():
    rng = np.random.default_rng(3)
    inliers, outliers = rng.integers(0, 6, size=40), rng.integers(2, 9, size=25)  # with ties
    pairs = (outliers[:, None] > inliers) + 0.5 * (outliers[:, None] == inliers)  # (n_out, n_in)
    variance = pairs.mean(axis=1).var(ddof=1) / 25 + pairs.mean(axis=0).var(ddof=1) / 40
    area = pairs.mean()
    half_width = 1.6448536269514722 * math.sqrt(variance) / (area * (1 - area))
    interval = auroc_interval(inliers, outliers, level=0.9)
    assert interval.low == pytest.approx(expit(logit(area) - half_width), rel=1e-12)
    assert interval.high == pytest.approx(expit(logit(area) + half_width), rel=1e-12)


@pytest.mark.parametrize("shift", [0.0, 1.0, 2.0])
def test_is_as_wide_as_the_bootstrap(shift):
    rng = np.random.default_rng(7)
    inliers, outliers = normal_scores(rng, 400, 250, shift)
    resampled = [auroc(rng.choice(inliers, 400), rng.choice(outliers, 250)) for _ in range(2000)]
    low, high = np.quantile(resampled, [0.025, 0.975])
    interval = auroc_interval(inliers, outliers)
    assert interval.low == pytest.approx(low, abs=0.15 * (high - low))
    assert interval.high == pytest.approx(high, abs=0.15 * (high - low))


@pytest.mark.parametrize("shift", [0.0, 1.5, 3.0])
def test_covers_the_true_area_as_often_as_promised(shift):
    rng = np.random.default_rng(11)
    truth = norm.cdf(shift / math.sqrt(2.0))
    intervals = [auroc_interval(*normal_scores(rng, 60, 80, shift), level=0.9) for _ in range(1000)]
    coverage = np.mean([interval.low <= truth <= interval.high for interval in intervals])
    assert 0.87 <= coverage <= 0.95  # three standard errors around 0.9, and room for small samples


@pytest.mark.parametrize("seed", range(20))
def test_holds_the_area_and_stays_in_the_unit_interval(seed):
    rng = np.random.default_rng(seed)
    inliers, outliers = normal_scores(rng, 5, 4, rng.uniform(-3, 3))
    interval = auroc_interval(inliers, outliers)
    assert 0.0 <= interval.low <= auroc(inliers, outliers) <= interval.high <= 1.0


def test_swapping_the_classes_mirrors_the_interval():
    inliers, outliers = normal_scores(np.random.default_rng(0), 30, 20, 0.7)
    forth, back = auroc_interval(inliers, outliers), auroc_interval(outliers, inliers)
    assert (back.low, back.high) == pytest.approx((1 - forth.high, 1 - forth.low), rel=1e-12)


def test_perfect_separation_is_not_taken_for_certainty():
    interval = auroc_interval(np.arange(50.0), np.arange(100.0, 120.0))
    assert interval.high == 1.0
    assert interval.low**20 == pytest.approx(0.025)
    mirrored = auroc_interval(np.arange(100.0, 120.0), np.arange(50.0))
    assert (mirrored.low, mirrored.high) == (0.0, pytest.approx(1.0 - interval.low))


def test_bad_calls_are_refused():
    with pytest.raises(DataError, match="two outlier scores"):
        auroc_interval([0.0, 1.0], [2.0])
    with pytest.raises(DataError, match="NaN"):
        auroc_interval([0.0, np.nan], [2.0, 3.0])
    for level in (0.0, 1.0, 95, np.nan):
        with pytest.raises(SettingsError, match="level"):
            auroc_interval([0.0, 1.0], [2.0, 3.0], level=level)
