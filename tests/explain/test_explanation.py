"""What an explanation holds, for one input and for several, before and after saving."""

import json

import numpy as np
import pytest
from PIL import Image
from safetensors.numpy import load_file

from dissensus import BayesianVAE
from dissensus.errors import DataError, SettingsError
from dissensus.explain import Examples
from dissensus.scores import SCORES, score

TINY = {"epochs": 4, "draws": 4, "samples": 4, "widths": (8,), "latent_size": 2, "batch_size": 16}


def _tiny(**changes):
    return BayesianVAE(**{**TINY, "false_alarm_rate": 0.2, "device": "cpu", **changes})


@pytest.fixture(scope="module")
def table_rows():
    return np.random.default_rng(0).normal(size=(100, 4)) * [1, 10, 0.1, 1] + [0, 5, 0, 100]


@pytest.fixture(scope="module")
def table_gate(table_rows):
    return _tiny(statistic="kl").fit(table_rows)


@pytest.fixture(scope="module")
def stamps():
    return np.random.default_rng(1).integers(0, 256, (80, 10, 12, 1), np.uint8)


@pytest.fixture(scope="module")
def stamp_gate(stamps):
    return _tiny().fit(stamps)


def test_shapes_and_units(table_gate, table_rows, stamp_gate, stamps):
    row = table_gate.explain(table_rows[3], reconstructions=3, neighbours=2)
    assert row.input.shape == row.disagreement.shape == (4,)
    assert row.reconstructions.shape == (3, 4)
    assert row.neighbours.shape == (2, 4)
    # In the columns' own units, not in standard deviations.
    assert np.all(np.abs(row.reconstructions - table_rows.mean(0)) < 6 * table_rows.std(0))
    stamp = stamp_gate.explain(stamps[3])
    assert stamp.input.shape == (10, 12, 1)
    assert stamp.disagreement.shape == (10, 12)
    assert stamp.reconstructions.shape == (4, 10, 12, 1)
    assert stamp.reconstructions.dtype == np.uint8
    assert stamp.reconstructions.max() > 1
    bright = stamp_gate.explain((stamps[3] / 255).astype(np.float32))
    assert bright.reconstructions.dtype == np.float32
    np.testing.assert_allclose(255 * bright.reconstructions, stamp.reconstructions, atol=0.6)


def test_one_input_or_several(table_gate, table_rows, stamp_gate, stamps, tmp_path):
    several = stamp_gate.explain(stamps[:3])
    assert len(several) == 3
    Image.fromarray(stamps[1, :, :, 0]).save(tmp_path / "one.png")
    for single in (stamps[1], stamps[1, :, :, 0], tmp_path / "one.png", str(tmp_path / "one.png")):
        one = stamp_gate.explain(single)
        np.testing.assert_array_equal(one.input, several[1].input)
        np.testing.assert_allclose(one.disagreement, several[1].disagreement, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(one.decision[:2], several[1].decision[:2], rtol=1e-6)
    assert len(stamp_gate.explain(stamps[:2, :, :, 0])) == 2
    assert len(table_gate.explain(table_rows[:1])) == 1
    assert table_gate.explain(list(table_rows[0])).input.shape == (4,)
    with pytest.raises(DataError, match="features"):
        table_gate.explain([1.0, 2.0])


def test_the_decision_and_the_statistics(table_gate, table_rows):
    explanations = table_gate.explain(table_rows[:9])
    decisions = table_gate.decide(table_rows[:9])
    found = [np.array(column) for column in zip(*(e.decision for e in explanations), strict=True)]
    for own, expected in zip(found, decisions, strict=True):
        np.testing.assert_allclose(own, expected, rtol=1e-9)
    matrix = table_gate.log_likelihoods(table_rows[:9]).values
    fitted = {name for name in SCORES if score(name).learns}
    assert set(explanations[0].statistics) == set(SCORES) - fitted
    for name, calibration in table_gate.calibration_statistics_.items():
        values = score(name)(matrix)
        for e, value in zip(explanations, values, strict=True):
            assert e.statistics[name].value == pytest.approx(value)
            below = sum(calibration < e.statistics[name].value) / len(calibration)
            assert e.statistics[name].percentile == pytest.approx(100 * below)


def test_a_fitted_statistic_of_its_own_is_listed(table_rows):
    gate = _tiny(statistic="typicality").fit(table_rows)
    standing = gate.explain(table_rows[0]).statistics["typicality"]
    assert standing.value == pytest.approx(-gate.score_samples(table_rows[:1])[0])
    assert 0 <= standing.percentile <= 100


def test_one_draw_lists_the_likelihoods_alone(table_rows):
    gate = _tiny(statistic="mean-ll", draws=1, chains=1).fit(table_rows)
    explanation = gate.explain(table_rows[0])
    assert set(explanation.statistics) == {"mean-ll", "mixture-ll"}
    assert (explanation.disagreement == 0).all()


def test_a_training_input_is_its_own_neighbour(table_gate):
    kept = table_gate.examples_.inputs
    for n in (0, 17):
        explanation = table_gate.explain(kept[n])
        np.testing.assert_array_equal(explanation.neighbours[0], kept[n])
        assert explanation.neighbour_distances[0] == pytest.approx(0, abs=1e-5)
        assert (np.diff(explanation.neighbour_distances) >= 0).all()


def test_neighbours_against_brute_force():
    random = np.random.default_rng(0)
    examples = Examples(np.arange(30.0)[:, None], random.normal(size=(30, 3)).astype(np.float32))
    codes = random.normal(size=(4, 3)).astype(np.float32)
    for code, (inputs, distances) in zip(codes, examples.nearest(codes, 5), strict=True):
        all_distances = [np.linalg.norm(e.astype(float) - code) for e in examples.codes]
        np.testing.assert_allclose(distances, sorted(all_distances)[:5], rtol=1e-6)
        assert inputs[:, 0].tolist() == np.argsort(all_distances)[:5].tolist()


def test_only_training_inputs_are_kept_and_as_many_as_asked(table_rows):
    gate = _tiny(examples=10).fit(table_rows)
    assert len(gate.examples_.inputs) == 10
    assert all(any((row == other).all() for other in table_rows) for row in gate.examples_.inputs)
    again = _tiny(examples=10).fit(table_rows)
    np.testing.assert_array_equal(again.examples_.inputs, gate.examples_.inputs)


def test_none_are_kept_where_none_may_be(table_rows, tmp_path):
    gate = _tiny(examples=0).fit(table_rows)
    gate.save(tmp_path / "gate")
    assert not any(
        name.startswith("examples") for name in load_file(tmp_path / "gate/calibration.safetensors")
    )
    explanation = BayesianVAE.load(tmp_path / "gate", device="cpu").explain(table_rows[0])
    assert explanation.neighbours.shape == (0, 4)
    assert explanation.to_dict()["neighbour_distances"] == []


@pytest.mark.parametrize("examples", [-1, 2.5, None, "many"])
def test_bad_settings(table_rows, examples):
    with pytest.raises(SettingsError, match="examples must be a whole number, 0 for none"):
        _tiny(examples=examples).fit(table_rows)


def test_saving_keeps_the_reasons(stamp_gate, stamps, tmp_path):
    stamp_gate.save(tmp_path / "gate")
    first = stamp_gate.explain(stamps[0])
    again = BayesianVAE.load(tmp_path / "gate", device="cpu").explain(stamps[0])
    np.testing.assert_array_equal(again.neighbours, first.neighbours)
    np.testing.assert_allclose(again.disagreement, first.disagreement, rtol=1e-5)
    for name, standing in first.statistics.items():
        assert again.statistics[name] == pytest.approx(standing)


def test_the_summary_is_json(table_gate, table_rows, stamp_gate, stamps):
    far = table_rows[0] + [0, 0, 1e6, 0]
    row = json.loads(json.dumps(table_gate.explain(far).to_dict(), allow_nan=False))
    nats = [place["nats"] for place in row["disagreement"]]
    assert nats == sorted(nats, reverse=True)
    assert {place["column"] for place in row["disagreement"]} == {0, 1, 2, 3}
    explanation = stamp_gate.explain(stamps[0])
    stamp = json.loads(json.dumps(explanation.to_dict(), allow_nan=False))
    assert len(stamp["disagreement"]) == 10
    top = stamp["disagreement"][0]
    assert explanation.disagreement[top["row"], top["column"]] == explanation.disagreement.max()


def test_rows_of_different_lengths_are_refused(table_gate):
    with pytest.raises(DataError, match="different lengths"):
        table_gate.explain([[1.0, 2.0, 3.0, 4.0], [1.0]])
