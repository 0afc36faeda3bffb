"""What a fitted detector decides by: a rate, a false discovery rate, a batch, a stream, new calibration."""

import copy
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from dissensus import BayesianVAE
from dissensus.decisions import (
    DriftMonitor,
    benjamini_hochberg,
    conformal_p_values,
    conformal_threshold,
    false_alarm_interval,
    weighted_p_values,
)
from dissensus.errors import CalibrationWarning, DataError, SettingsError


@pytest.fixture
def gate(row_gate):
    """One that a test may change."""
    return copy.copy(row_gate)


def like(rows, count, seed):
    """Fresh rows with the law of the fixture's."""
    return np.random.default_rng(seed).normal(size=(count, 4)) * [1, 10, 0.1, 1] + [0, 5, 0, 100]


def test_a_changed_rate_is_honoured_without_a_fit(gate, rows, tmp_path):
    before = gate.predict(rows)
    gate.set_params(false_alarm_rate=0.5)
    assert gate.threshold_ == conformal_threshold(gate.calibration_scores_, 0.5)
    assert gate.offset_ == -gate.threshold_
    np.testing.assert_array_equal(gate.predict(rows) == -1, gate.p_values(rows) <= 0.5)
    assert (gate.predict(rows) == -1).sum() > (before == -1).sum()
    gate.save(tmp_path / "gate")
    assert BayesianVAE.load(tmp_path / "gate", device="cpu").threshold_ == gate.threshold_


def test_an_impossible_rate_is_refused_when_it_is_used(gate, rows):
    gate.set_params(false_alarm_rate=1.5)
    with pytest.raises(SettingsError, match="false_alarm_rate"):
        gate.predict(rows)


def test_the_rate_comes_with_its_interval(gate):
    assert gate.false_alarm_interval_ == false_alarm_interval(15, 0.2)
    gate.learnt_ = replace(gate.learnt_, calibration={gate.statistic_: np.arange(1000.0)})
    assert gate.false_alarm_interval_ == false_alarm_interval(1000, 0.2)


@pytest.mark.parametrize("keep", [False, True])
def test_recalibration_replaces_or_joins(gate, rows, keep, tmp_path):
    old, fresh, seen = gate.calibration_scores_, like(rows, 60, 1), []
    gate.recalibrate(fresh, keep=keep, on_progress=lambda *report: seen.append(report))
    new = -gate.score_samples(fresh)
    np.testing.assert_array_equal(gate.calibration_scores_, np.concatenate([old, new]) if keep else new)
    assert gate.threshold_ == conformal_threshold(gate.calibration_scores_, 0.2)
    assert {len(values) for values in gate.calibration_statistics_.values()} == {75 if keep else 60}
    assert seen[-1] == ("calibrating", 240, 240)
    gate.save(tmp_path / "gate")
    again = BayesianVAE.load(tmp_path / "gate", device="cpu")
    np.testing.assert_array_equal(again.calibration_scores_, gate.calibration_scores_)
    np.testing.assert_array_equal(again.p_values(rows), gate.p_values(rows))


def test_recalibration_changes_no_score_and_not_the_original(gate, row_gate, rows):
    before, old = row_gate.score_samples(rows), row_gate.calibration_scores_.copy()
    gate.recalibrate(like(rows, 30, 2), keep=True)
    np.testing.assert_array_equal(gate.score_samples(rows), before)
    np.testing.assert_array_equal(row_gate.calibration_scores_, old)


def test_recalibration_makes_a_shifted_world_normal(gate, rows):
    shift = np.array([3.0, 30.0, 0.3, 3.0])
    shifted = like(rows, 200, 3) + shift
    assert (gate.predict(shifted) == -1).mean() > 0.4
    gate.recalibrate(like(rows, 199, 4) + shift)
    assert (gate.predict(shifted) == -1).mean() == pytest.approx(0.2, abs=0.12)


def test_recalibration_on_too_few_warns_and_on_nothing_changes_nothing(gate, rows):
    with pytest.warns(CalibrationWarning, match="takes 4 calibration rows and there are 3"):
        gate.recalibrate(rows[:3])
    kept = gate.calibration_scores_
    with pytest.raises(DataError):
        gate.recalibrate(np.empty((0, 4)))
    assert gate.calibration_scores_ is kept


def test_recalibration_of_a_folder_reads_it_in_batches(picture_gate, pictures, tmp_path, monkeypatch):
    image = pytest.importorskip("PIL.Image")
    for number, pixels in enumerate(pictures[:7]):
        image.fromarray(pixels).save(tmp_path / f"{number}.png")
    monkeypatch.setattr("dissensus.detector.inputs.CHUNK_ROWS", 3)
    gate = copy.copy(picture_gate).recalibrate(tmp_path)
    np.testing.assert_allclose(gate.calibration_scores_, -picture_gate.score_samples(pictures[:7]), rtol=1e-6)


def test_with_fdr_the_batch_is_decided_together(gate, rows):
    gate.recalibrate(like(rows, 300, 5))
    some = np.concatenate([rows[:30], rows[:10] * 50])
    found, plain = gate.decide(some, fdr=0.1), gate.decide(some)
    np.testing.assert_array_equal(found.score, plain.score)
    np.testing.assert_array_equal(found.p_value, plain.p_value)
    np.testing.assert_array_equal(
        found.flagged, benjamini_hochberg(conformal_p_values(gate.calibration_scores_, found.score), 0.1)[0]
    )
    assert found.flagged.any()
    assert not found.flagged.all()


def test_a_false_discovery_rate_beyond_the_calibration_is_refused(gate, rows):
    with pytest.raises(SettingsError, match="15 calibration rows: it takes 19 "):
        gate.decide("nothing is even opened", fdr=0.05)
    gate.decide(rows, fdr=0.1)


def test_a_batch_is_tested_as_a_whole(gate, rows):
    gate.recalibrate(like(rows, 200, 6))
    normal, strange = gate.test_batch(like(rows, 50, 7)), gate.test_batch(rows[:20] * 50)
    assert normal.p_value > 0.01
    assert strange.p_value == 0.001
    assert strange.statistic > 0.9
    assert gate.test_batch(rows[:20] * 50, alternative="different").p_value == 0.001
    assert (strange.calibration_size, strange.batch_size) == (200, 20)


def test_a_stream_is_watched(gate, rows):
    gate.recalibrate(like(rows, 200, 8))
    monitor = gate.drift_monitor(false_alarm_probability=0.001)
    assert isinstance(monitor, DriftMonitor)
    monitor.update(gate.decide(like(rows, 300, 9)).score)
    assert not monitor.alarm
    monitor.update(gate.decide(rows[:40] * 50).score)
    assert monitor.alarm
    assert monitor.alarm_at >= 300


def test_a_monitor_with_a_margin_for_its_calibration_set_has_a_higher_bar(gate):
    plain, careful = gate.drift_monitor(), gate.drift_monitor(confidence=0.95)
    assert np.exp(careful.alarm_level - plain.alarm_level) == pytest.approx(20)


def test_recent_normal_inputs_are_compared_with_the_calibration_inputs(gate, rows):
    gate.recalibrate(like(rows, 200, 10))
    assert gate.check_exchangeable(like(rows, 100, 11)).exchangeable
    shifted = like(rows, 100, 12) + np.array([3.0, 30.0, 0.3, 3.0])
    found = gate.check_exchangeable(shifted)
    assert found.shift == "higher"
    assert found.above == (gate.predict(shifted) == -1).sum()
    assert (found.recent_inputs, found.calibration_inputs) == (100, 200)
    assert gate.check_exchangeable(shifted) == found
    assert gate.recalibrate(shifted[:50]).check_exchangeable(shifted[50:]).exchangeable  # the remedy


def test_p_values_for_a_known_shift_count_calibration_inputs_by_weight(gate, rows):
    normal, new = like(rows, 200, 13), like(rows, 20, 14)
    gate.recalibrate(normal)
    weights = np.exp(normal[:, 0]), np.exp(new[:, 0])
    expected = weighted_p_values(gate.calibration_scores_, gate.decide(new).score, *weights)
    np.testing.assert_array_equal(gate.p_values(new, weights=weights), expected)
    np.testing.assert_allclose(gate.p_values(new, weights=(np.ones(200), np.ones(20))), gate.p_values(new))
    with pytest.raises(DataError, match="calibration_weights"):
        gate.p_values(new, weights=(np.ones(3), np.ones(20)))


def test_a_rate_that_adapts_starts_at_the_gates_own(gate, rows):
    rate = gate.adaptive_rate(step=0.1)
    assert (rate.target, rate.rate) == (0.2, 0.2)
    far = rows[0] * 50
    for _ in range(20):  # a stream that is all strange, and all normal: the alarms become rare
        rate.update(rate.flags(float(gate.p_values([far])[0])), normal=True)
    assert abs(rate.false_alarms / 20 - 0.2) <= rate.bound()
    assert rate.false_alarms < 10


def test_nothing_is_decided_before_a_fit(quick, rows):
    gate = quick()
    for call in (
        lambda: gate.recalibrate(rows),
        lambda: gate.test_batch(rows),
        lambda: gate.drift_monitor(),
        lambda: gate.check_exchangeable(rows),
        lambda: gate.decide(rows, fdr=0.1),
    ):
        with pytest.raises(NotFittedError):
            call()
    assert not hasattr(gate, "threshold_")
