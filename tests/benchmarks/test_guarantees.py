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
from benchmarks.guarantees.measure import DISCOVERIES, FALSE_ALARMS, measure_guarantees
from benchmarks.guarantees.sentences import guarantee_sentences, of_kind
from benchmarks.records import Record, Records
from benchmarks.rows import by_part, in_rows
from dissensus import BayesianVAE, load_sample
from dissensus.decisions import DriftMonitor, batch_test, conformal_p_values, conformal_threshold

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def pools():
    random = np.random.default_rng(0)
    return random.gumbel(size=420), random.gumbel(size=100) + 6


@pytest.fixture(scope="module")
def parts(pools):
    return measure_guarantees(*pools, calibration_size=220, splits=60, seed=1)


def recorded(parts):
    rows, about = in_rows(parts)
    return Record("splits", 1, {"splits": 60}, rows, {}, about)


@pytest.fixture
def record(parts):
    return recorded(parts)


def test_sound_guarantees_are_found_kept(parts):
    assert all(part["kept"] for part in parts.values())
    assert parts["streams"]["detected"] > 0.8
    assert parts["batches"]["rejected"]["strange"] > parts["batches"]["rejected"]["normal"]
    assert all(found["power"] > 0 for found in of_kind(parts, DISCOVERIES)[1:])


def test_what_is_found_is_json_and_a_function_of_the_seed(pools, parts):
    again = measure_guarantees(*pools, calibration_size=220, splits=60, seed=1)
    assert json.loads(json.dumps(parts)) == again
    first, second = (measure_guarantees(*pools, calibration_size=220, splits=3, seed=n) for n in (1, 2))
    assert of_kind(first, FALSE_ALARMS) != of_kind(second, FALSE_ALARMS)


def test_shares_inside_are_counted(parts):
    for found in of_kind(parts, FALSE_ALARMS):
        inside = [found["low"] - 1e-9 <= share <= found["high"] + 1e-9 for share in found["realised"]]
        assert found["inside"] == pytest.approx(np.mean(inside))
        assert found["stated"] >= found["level"]


def test_the_detectors_own_calibration_set_is_measured_as_it_is(pools):
    shifted = np.concatenate([pools[0][:220], pools[0][220:] + 50])
    found = measure_guarantees(shifted, pools[1], calibration_size=220, splits=2)
    assert [one["undivided"] for one in of_kind(found, FALSE_ALARMS)] == [1.0, 1.0, 1.0]


def test_broken_promises_are_noticed(pools, monkeypatch):
    """Rates three times too bold, and calibration scores that are lower than they should be."""
    monkeypatch.setattr(
        measure, "conformal_threshold", lambda scores, rate: conformal_threshold(scores, 3 * rate)
    )
    monkeypatch.setattr(measure, "conformal_p_values", lambda old, new: conformal_p_values(old, new) / 3)
    monkeypatch.setattr(measure, "DriftMonitor", lambda old, **given: DriftMonitor(old - 1, **given))
    monkeypatch.setattr(measure, "batch_test", lambda old, new, **given: batch_test(old - 1, new, **given))
    parts = measure_guarantees(*pools, calibration_size=220, splits=60, seed=1)
    assert not any(part["kept"] for part in parts.values())
    assert all(sentence.endswith("NOT KEPT.") for sentence in guarantee_sentences(recorded(parts)))


def test_each_guarantee_has_its_sentence(parts, record):
    sentences = guarantee_sentences(record)
    assert len(sentences) == 8
    assert all(sentence.endswith(".") and "NOT" not in sentence for sentence in sentences)
    assert f"{parts['false discoveries at 10%']['realised']:.1%}" in sentences[4]


def test_nothing_detected_is_said_without_a_delay(parts):
    quiet = copy.deepcopy(parts)
    quiet["streams"] |= {"median_delay": None, "detected": 0.0}
    assert "half of them" not in guarantee_sentences(recorded(quiet))[6]


def test_the_figure_is_made_from_the_record_alone(record, tmp_path):
    Records(tmp_path).add("guarantees", record)
    drawn = draw_guarantees(Records(tmp_path).read("guarantees")[0])
    assert drawn.startswith(PNG)
    assert drawn == draw_guarantees(record)


def test_the_command_writes_record_and_figure(tmp_path):
    train, _ = load_sample()
    gate = BayesianVAE(epochs=1, draws=2, samples=1, widths=(2,), latent_size=2, device="cpu")
    gate.fit(train.images[:400]).save(tmp_path / "gate")
    output = tmp_path / "found"
    arguments = ["guarantees", "--splits", "3", "--output", str(output)]
    answer = CliRunner().invoke(app, [*arguments, "--gate", str(tmp_path / "gate")])
    assert answer.exit_code == 0, answer.output
    (record,) = Records(output).read("guarantees")
    assert [record.about[name] for name in ("inliers", "calibration_size")] == [1060, 60]
    assert record.settings["splits"] == 3
    assert all(math.isfinite(found["inside"]) for found in of_kind(by_part(record), FALSE_ALARMS))
    assert "False alarms at 5%" in answer.stdout
    figure = (output / "guarantees.png").read_bytes()
    assert figure.startswith(PNG)
    (output / "guarantees.png").unlink()
    assert CliRunner().invoke(app, [*arguments, "--table"]).stdout == answer.stdout
    assert (output / "guarantees.png").read_bytes() == figure
