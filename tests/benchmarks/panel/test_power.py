import numpy as np
import pytest

from benchmarks.panel import power as module
from benchmarks.panel.power import discovery_power
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
    assert found == pytest.approx(brute_force(calibration, inliers, outliers, 0.1))
    assert 0 < found.found < 1


def test_every_outlier_is_in_one_mix_and_every_mix_has_a_tenth_of_them(monkeypatch):
    mixes, flag = [], module.benjamini_hochberg
    monkeypatch.setattr(module, "benjamini_hochberg", lambda p, fdr: mixes.append(p) or flag(p, fdr))
    calibration = np.arange(999.0)
    # All outliers have p ≤ 0.01, which is just enough, and all inliers p = 0.95.
    outliers = np.arange(990.0, 1000.0).repeat(20)
    found = discovery_power(calibration, np.full(900, 50.0), outliers, np.random.default_rng(0))
    assert found == (1.0, 0.0)
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
