"""The benchmark of the guarantees: it counts right, says so, and would notice a broken promise."""

import copy
import json
import math

import numpy as np
import pytest
from typer.testing import CliRunner

from benchmarks.__main__ import app
from benchmarks.guarantees import measure
from benchmarks.guarantees.figure import draw_guarantees
from benchmarks.guarantees.measure import measure_guarantees
from benchmarks.guarantees.sentences import guarantee_sentences
from dissensus import BayesianVAE, load_sample
from dissensus.decisions import DriftMonitor, batch_test, conformal_p_values, conformal_threshold

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def pools():
    random = np.random.default_rng(0)
    return random.gumbel(size=420), random.gumbel(size=100) + 6


@pytest.fixture(scope="module")
def record(pools):
    return measure_guarantees(*pools, calibration_size=220, splits=60, seed=1)


def every_part(record):
    return [*record["false_alarms"], *record["discoveries"], record["streams"], record["batches"]]


def test_sound_guarantees_are_found_kept(record):
    assert all(part["kept"] for part in every_part(record))
    assert record["streams"]["detected"] > 0.8
    assert record["batches"]["rejected"]["strange"] > record["batches"]["rejected"]["normal"]
    assert all(found["power"] > 0 for found in record["discoveries"][1:])


def test_the_record_is_json_and_a_function_of_the_seed(pools, record):
    again = measure_guarantees(*pools, calibration_size=220, splits=60, seed=1)
    assert json.loads(json.dumps(record)) == again
    assert (
        measure_guarantees(*pools, calibration_size=220, splits=3, seed=2)["false_alarms"]
        != (measure_guarantees(*pools, calibration_size=220, splits=3, seed=1)["false_alarms"])
    )


def test_shares_inside_are_counted(record):
    for found in record["false_alarms"]:
        inside = [found["low"] - 1e-9 <= share <= found["high"] + 1e-9 for share in found["realised"]]
        assert found["inside"] == pytest.approx(np.mean(inside))
        assert found["stated"] >= found["level"]


def test_the_detectors_own_calibration_set_is_measured_as_it_is(pools):
    shifted = np.concatenate([pools[0][:220], pools[0][220:] + 50])
    found = measure_guarantees(shifted, pools[1], calibration_size=220, splits=2)["false_alarms"]
    assert [one["undivided"] for one in found] == [1.0, 1.0, 1.0]


def test_broken_promises_are_noticed(pools, monkeypatch):
    """Rates three times too bold, and calibration scores that are lower than they should be."""
    monkeypatch.setattr(
        measure, "conformal_threshold", lambda scores, rate: conformal_threshold(scores, 3 * rate)
    )
    monkeypatch.setattr(measure, "conformal_p_values", lambda old, new: conformal_p_values(old, new) / 3)
    monkeypatch.setattr(measure, "DriftMonitor", lambda old, **given: DriftMonitor(old - 1, **given))
    monkeypatch.setattr(measure, "batch_test", lambda old, new, **given: batch_test(old - 1, new, **given))
    record = measure_guarantees(*pools, calibration_size=220, splits=60, seed=1)
    assert not any(part["kept"] for part in every_part(record))
    assert all(sentence.endswith("NOT KEPT.") for sentence in guarantee_sentences(record))


def test_each_guarantee_has_its_sentence(record):
    sentences = guarantee_sentences(record)
    assert len(sentences) == 8
    assert all(sentence.endswith(".") and "NOT" not in sentence for sentence in sentences)
    assert f"{record['discoveries'][1]['realised']:.1%}" in sentences[4]


def test_nothing_detected_is_said_without_a_delay(record):
    quiet = copy.deepcopy(record)
    quiet["streams"] |= {"median_delay": None, "detected": 0.0}
    assert "half of them" not in guarantee_sentences(quiet)[6]


def test_the_figure_is_made_from_the_record_alone(record):
    drawn = draw_guarantees(json.loads(json.dumps(record)))
    assert drawn.startswith(PNG)
    assert drawn == draw_guarantees(record)


def test_the_command_writes_record_and_figure(tmp_path):
    train, _ = load_sample()
    gate = BayesianVAE(epochs=1, draws=2, samples=1, widths=(2,), latent_size=2, device="cpu")
    gate.fit(train.images[:400]).save(tmp_path / "gate")
    output = tmp_path / "found"
    answer = CliRunner().invoke(
        app,
        ["guarantees", "--gate", str(tmp_path / "gate"), "--splits", "3", "--output", str(output)],
    )
    assert answer.exit_code == 0, answer.output
    record = json.loads((output / "guarantees.json").read_text())
    assert (record["inliers"], record["calibration_size"], record["splits"]) == (1060, 60, 3)
    assert all(math.isfinite(found["inside"]) for found in record["false_alarms"])
    assert (output / "guarantees.png").read_bytes().startswith(PNG)
    assert "False alarms at 5%" in answer.stdout
