"""Detectors that keep training rows, and those that are told not to."""

import json
import warnings

import numpy as np
import pytest
from safetensors.numpy import load_file
from sklearn.datasets import make_moons

from dissensus import BayesianFlow, BayesianVAE, Detector
from dissensus.detector.parts import part_fractions
from dissensus.errors import SettingsError
from dissensus.inputs import SURROUNDINGS, every_kind, split
from dissensus.likelihood import one_look
from dissensus.models.inputs import to_tensor
from dissensus.scores import SUM, Available, Fused, weight
from dissensus.seeding import stream_seed
from tests.contracts.own_embedders import letters

QUICK_FLOW = {"epochs": 3, "draws": 2, "hidden": (4,), "transforms": 1, "device": "cpu"}


def arrays(folder):
    return load_file(folder / "calibration.safetensors")


@pytest.mark.parametrize("inliers", [1, 30, 10_000])
def test_rows_are_fused_of_the_same_whatever_their_number(inliers):
    found = Fused().settled(Available(("corrected-ll",), tuple(SURROUNDINGS)), inliers=inliers)
    assert found.fusion.depth == SUM
    assert found.statistics == found.fusion.leading == ("nearest", "isolation", "gaussians", "mean-ll")


def test_the_likelihood_of_long_rows_and_of_embeddings_is_not_added(quick):
    long = np.random.default_rng(0).normal(size=(60, 70))
    names = ("nearest", "isolation", "gaussians")
    assert quick().fit(long).score_.statistics == names
    texts = ["".join(np.random.default_rng(n).choice([*"abc"], 9)) for n in range(60)]
    assert quick(embed=letters).fit(texts).score_.statistics == names
    assert quick().fit(long[:, :64]).score_.statistics == (*names, "mean-ll")
    without = quick(neighbours=False).fit(long).score_
    assert "mixture-ll" in without.statistics


def test_a_gate_of_rows_keeps_them_and_says_so(row_gate, rows, tmp_path):
    row_gate.save(tmp_path / "gate")
    kept = arrays(tmp_path / "gate")["surroundings/rows"]
    assert kept.shape == (row_gate.fitted_rows_["train"], rows.shape[1])
    card = (tmp_path / "gate/README.md").read_text("utf-8")
    assert f"It holds {len(kept)} training inputs as 4 numbers each" in card
    again = BayesianVAE.load(tmp_path / "gate", device="cpu")
    found, expected = again.statistics(rows), row_gate.statistics(rows)
    assert set(SURROUNDINGS) <= set(found)
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values)
        assert row_gate.statistics(rows[7:8])[name] == values[7]


def test_how_much_a_statistic_counts_is_learnt_of_made_up_outliers(quick, pictures, tmp_path):
    own = Fused(["detail-1", "isolation", "mean-ll"], depth="gaussian", leading=["isolation"])
    gate = quick(statistic=own).fit(pictures)
    kept, places = gate.preprocessor_, split(len(pictures), part_fractions(len(pictures)), seed=gate.seed_)
    inside = pictures[places["validation"], ..., None]
    made = dict(every_kind(inside, stream_seed(gate.seed_, "made up to learn from")))
    assert len(made) == 9
    of = {name: kept.statistics(x, x, only=["isolation"])["isolation"] for name, x in made.items()}
    expected = weight(kept.statistics(inside, inside)["isolation"], [*of.values()])
    assert gate.score_.fusion.extra["isolation"] == expected
    looks = [
        -one_look(gate.model_, gate.draws_, to_tensor(x), device="cpu")[0].mean(axis=0)
        for x in (inside, *made.values())
    ]
    assert gate.score_.fusion.extra["mean-ll"] == weight(looks[0], looks[1:])
    gate.save(tmp_path / "gate")
    again = BayesianVAE.load(tmp_path / "gate", device="cpu")
    assert again.score_.fusion.extra == gate.score_.fusion.extra
    np.testing.assert_array_equal(again.score_samples(pictures[:5]), gate.score_samples(pictures[:5]))


def test_nothing_is_made_up_of_rows(quick, rows):
    own = Fused(["isolation", "latent-norm"], depth="gaussian", leading=["isolation"])
    assert quick(statistic=own).fit(rows).score_.fusion.extra == {}


@pytest.mark.parametrize("what", ["rows", "texts"])
def test_a_gate_that_is_told_to_keep_none_keeps_none(quick, rows, what, tmp_path):
    texts = ["".join(np.random.default_rng(n).choice([*"abc"], 9)) for n in range(60)]
    given = {"rows": (rows, None), "texts": (texts, letters)}
    X, embed = given[what]
    for keep in (True, False):
        quick(neighbours=keep, examples=0, embed=embed).fit(X).save(tmp_path / "gate")
        config = json.loads((tmp_path / "gate/config.json").read_text("utf-8"))["detector"]
        assert config["settings"]["neighbours"] is keep
        names = arrays(tmp_path / "gate")
        assert any(name.startswith("surroundings/") for name in names) is keep
        assert any(name.removeprefix("statistics/") in SURROUNDINGS for name in names) is keep
        # The fusion and the components are small: nothing else has a row for most of the training rows.
        most = config["fitted_rows"]["train"] // 2
        if what == "rows":  # texts may be alike, and are kept once
            assert any(array.ndim == 2 and len(array) > most for array in names.values()) is keep
        again = BayesianVAE.load(tmp_path / "gate", embed=embed, device="cpu")
        assert again.neighbours is keep
        assert np.isfinite(again.score_samples(X)).all()


def test_a_score_that_does_not_ask_leaves_none_in_the_gate(fitted):
    gate = fitted("rows", statistic="kl")
    assert gate.preprocessor_.surroundings is None


def test_only_true_and_false_are_said():
    with pytest.raises(SettingsError, match="neighbours must be True or False, got 3"):
        Detector(neighbours=3).fit(np.zeros((9, 2)))


@pytest.mark.parametrize(("rows", "columns"), [(5, 3), (30, 100), (30, 2000), (60, 5)])
def test_hostile_rows_have_finite_scores(rows, columns):
    X = np.random.default_rng(5).normal(size=(rows, columns))
    X[:, 0] *= 1e6
    X[:, 1] = 7.0
    X[rows // 2 :] = X[: rows - rows // 2]  # there twice
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few are not calibrated, and not sampled
        gate = BayesianFlow(**QUICK_FLOW).fit(X)
    asked = np.concatenate([X, 1e6 * X, np.full((1, columns), 1e150), np.zeros((1, columns))])
    scores = gate.score_samples(asked)
    assert np.isfinite(scores).all()
    assert scores[0] == gate.score_samples(X[:1])[0]


def test_what_lies_between_two_moons_is_found():
    moons = make_moons(700, noise=0.05, random_state=0)[0]
    gate = BayesianFlow(**QUICK_FLOW, false_alarm_rate=0.1).fit(moons[:600])
    between = np.array([[0.5, 0.25], [0.0, 0.0], [1.0, 0.5], [0.45, 0.2]])
    assert (gate.predict(between) == -1).all()
    assert (gate.predict(moons[600:]) == -1).mean() < 0.25
