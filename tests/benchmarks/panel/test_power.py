import numpy as np
import pytest

from benchmarks.panel import power as module
from benchmarks.panel.power import Power, discovery_power, mean_power, shown_power
from dissensus.seeding import numpy_stream


def brute_force(calibration, inliers, outliers, fdr):
    """Benjamini–Hochberg as it is written, on one mix: share of outliers and of inliers flagged."""
    scores = np.concatenate([outliers, inliers])
    p = np.array([(1 + sum(c >= s for c in calibration)) / (len(calibration) + 1) for s in scores])
    k = max((k for k in range(1, len(p) + 1) if np.sort(p)[k - 1] <= fdr * k / len(p) + 1e-12), default=0)
    flagged = p <= (np.sort(p)[k - 1] if k else -1)
    return flagged[: len(outliers)].mean(), flagged[len(outliers) :].sum() / max(1, flagged.sum())


def test_one_mix_is_benjamini_hochberg_as_written():
    random = np.random.default_rng(1)
    calibration, inliers = random.normal(size=400), random.normal(size=90)
    outliers = random.normal(3.5, 1.0, size=10)
    found = discovery_power(calibration, inliers, outliers, random)
    assert found[:2] == pytest.approx(brute_force(calibration, inliers, outliers, 0.1))
    rank = np.array([(calibration >= score).sum() + 1 for score in inliers])
    assert found.alarms == pytest.approx((rank / 401 <= 0.05).mean())
    assert 0 < found.found < 1


def test_every_outlier_is_in_one_mix_and_every_mix_has_a_tenth_of_them(monkeypatch):
    mixes, flag = [], module.benjamini_hochberg
    monkeypatch.setattr(module, "benjamini_hochberg", lambda p, fdr: mixes.append(p) or flag(p, fdr))
    calibration = np.arange(999.0)
    # All outliers have p ≤ 0.01, which is just enough, and all inliers p = 0.95.
    outliers = np.arange(990.0, 1000.0).repeat(20)
    found = discovery_power(calibration, np.full(900, 50.0), outliers, np.random.default_rng(0))
    assert found == (1.0, 0.0, 0.0)
    assert [len(mix) for mix in mixes] == [1000, 1000]
    assert sorted(p for mix in mixes for p in mix if p < 0.5) == sorted(
        (1 + 999 - score) / 1000 for score in outliers
    )


def test_few_false_discoveries_on_average():
    false = []
    for trial in range(150):
        random = numpy_stream(0, "power", trial)
        calibration, inliers = random.normal(size=300), random.normal(size=180)
        false.append(discovery_power(calibration, inliers, random.normal(3, 1, 20), random).false)
    error = np.std(false) / np.sqrt(len(false))
    assert np.mean(false) <= 0.09 + 3 * error
    assert np.mean(false) > 0.03  # it is used up, not avoided


def test_scores_that_know_nothing_find_next_to_nothing():
    random = np.random.default_rng(0)
    same = random.normal(size=(3, 2000))
    assert discovery_power(*same, random).found < 0.01


def test_a_power_counts_up_to_the_nominal_rate_and_not_beyond():
    just, above = Power(0.8, 0.1), Power(0.8, 0.1001)
    assert (just.counted, above.counted) == (0.8, 0.0)
    assert shown_power(just) == ".800 (.100)"
    assert shown_power(above, 2).startswith("[.80] ")
    # Seeds of one pair are averaged before it is asked whether they count; pairs after.
    assert mean_power([Power(0.8, 0.05), Power(0.6, 0.13)]) == pytest.approx((0.7, 0.09, None))
    assert mean_power([Power(0.8, 0.05), Power(0.6, 0.13)], counted=True).found == pytest.approx(0.4)
    assert mean_power([]) is None


def test_what_one_record_lacks_their_mean_lacks():
    assert mean_power([Power(0.8, 0.05, 0.04), None]) is None
    assert mean_power([Power(0.8, 0.05, 0.04), Power(0.8, 0.05)]).alarms is None
    assert mean_power([Power(0.8, 0.05, 0.04), Power(0.8, 0.05, 0.06)]).alarms == pytest.approx(0.05)


def test_calibration_images_of_another_kind_raise_too_many_alarms():
    random = np.random.default_rng(0)
    inliers, outliers = random.normal(size=2000), random.normal(4, 1, size=200)
    own = discovery_power(random.normal(size=2000), inliers, outliers, np.random.default_rng(1))
    shifted = discovery_power(random.normal(-0.3, 1, size=2000), inliers, outliers, np.random.default_rng(1))
    assert own.counts
    assert not shifted.counts
    assert own.alarms == pytest.approx(0.05, abs=0.015)
    assert shifted.alarms > 0.075
