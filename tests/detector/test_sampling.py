"""How weights are drawn where a person leaves it open: as the model recommends."""

import json
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from dissensus import BayesianFlow, BayesianVAE, Detector
from dissensus.detector.sampling import Sampler, expected_sampler
from dissensus.errors import SettingsError
from dissensus.models import MAF, VAE, GenerativeModel, Recommended
from dissensus.posterior import SGHMC, SWAG, Adam, SamplingSettings
from tests.contracts.models import LinearGaussian

FOUR = Sampler("ensemble", 4, 4, None)
TWENTY = Sampler("sghmc", 2, 20, 1e-2)
QUICK = {"epochs": 1, "examples": 0, "false_alarm_rate": 0.2, "device": "cpu"}


def small(**settings):
    return BayesianFlow(**QUICK, hidden=(4,), transforms=1, **settings)


@pytest.mark.parametrize(
    ("detector", "of_rows", "of_pictures"),
    [
        (Detector(), FOUR, TWENTY),
        (Detector(model="vae"), TWENTY, TWENTY),
        (Detector(model=MAF), FOUR, FOUR),
        (Detector(model=LinearGaussian), TWENTY, TWENTY),
        (BayesianVAE(), TWENTY, TWENTY),
        (BayesianFlow(kind="nsf"), FOUR, FOUR),
        (Detector(posterior="ensemble"), FOUR, FOUR),
        (Detector(posterior="sghmc"), Sampler("sghmc", 2, 20, 2e-2), TWENTY),
        (Detector(posterior="swag"), Sampler("swag", 2, 20, None), Sampler("swag", 2, 20, None)),
        (Detector(draws=8), Sampler("ensemble", 8, 8, None), Sampler("sghmc", 2, 8, 1e-2)),
        (Detector(chains=5), Sampler("ensemble", 5, 5, None), Sampler("sghmc", 5, 20, 1e-2)),
        (BayesianFlow(posterior="sgld", step_size=0.1), *2 * [Sampler("sgld", 2, 20, 0.1)]),
        (Detector(posterior=SWAG(rank=3)), *2 * [Sampler(SWAG(rank=3), 2, 20, None)]),
        (Detector(posterior=Adam(), chains=2), *2 * [Sampler(Adam(), 2, 2, None)]),
    ],
)
def test_what_is_left_open_is_as_recommended(detector, of_rows, of_pictures):
    assert expected_sampler(detector, rows=True) == of_rows
    assert expected_sampler(detector, rows=False) == of_pictures


def test_settings_of_one_s_own_say_how_many():
    own = SamplingSettings.variant_2(SGHMC(), epochs=6, burn_in=3, thinning=1, chains=3)
    found = expected_sampler(Detector(posterior=own), rows=True)
    assert (found.chains, found.draws) == (3, own.draws)


def test_a_model_without_a_word_is_sampled():
    assert GenerativeModel.recommended == VAE.recommended == Recommended("sghmc", 2, 20, 1e-2)


def test_what_was_left_open_is_known_after_the_fit(rows, tmp_path):
    gate = small().fit(rows)
    assert (gate.posterior, gate.chains, gate.draws, gate.step_size) == ("auto", None, None, None)
    assert gate.sampler_ == FOUR
    assert (len(gate.draws_), len(set(gate.draws_.chain))) == (4, 4)
    gate.set_params(posterior="swag", draws=6)  # waits for another fit
    gate.save(tmp_path / "gate")
    saved = json.loads((tmp_path / "gate/config.json").read_text("utf-8"))["detector"]["settings"]
    told = {name: saved[name] for name in ("posterior", "chains", "draws", "step_size")}
    assert told == {"posterior": "ensemble", "chains": 4, "draws": 4, "step_size": None}
    card = (tmp_path / "gate/README.md").read_text("utf-8")
    assert "| posterior | ensemble |" in card
    assert "| chains | 4 |" in card
    assert "None" not in card
    again = BayesianFlow.load(tmp_path / "gate", device="cpu")
    assert again.sampler_ == FOUR
    np.testing.assert_array_equal(again.fit(rows).score_samples(rows), gate.score_samples(rows))


def test_rows_as_they_come_are_a_flow_s(rows):
    one, other = (kind(**QUICK).fit(rows) for kind in (Detector, BayesianFlow))
    assert type(one.model_) is type(other.model_) is MAF
    np.testing.assert_array_equal(one.score_samples(rows), other.score_samples(rows))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"draws": 1, "statistic": "ess"}, "needs at least two draws, got draws=1"),
        ({"posterior": "sghmc", "draws": 5}, "draws=5 must be a multiple of chains=2"),
        ({"posterior": "swag", "step_size": 0.1}, "'swag' is no sampler and has no step size: leave step_"),
        ({"model": "maf", "step_size": 0.1}, "'ensemble' is no sampler .* choose one of sghmc, cyclical"),
        ({"model": "maf", "chains": 2, "draws": 4}, "set draws=2, or chains=4"),
    ],
)
def test_what_no_input_could_make_right_is_refused_before_any_is_read(wrong, said):
    with pytest.raises(SettingsError, match=said):
        Detector(**wrong).fit("there is no such file.npy")


@pytest.mark.parametrize("kind", ["rows", "pictures"])
def test_what_is_wrong_for_some_inputs_is_refused_for_these(kind, rows):
    wrong = {"rows": {"step_size": 0.1}, "pictures": {"draws": 5}}[kind]
    said = {"rows": "no step size", "pictures": "multiple of chains=2"}[kind]
    X = rows if kind == "rows" else np.zeros((30, 8, 8), np.uint8)
    with pytest.raises(SettingsError, match=said):
        Detector(**QUICK, **wrong).fit(X)


def test_a_search_over_draws(rows):
    asked = GridSearchCV(small(), {"draws": [2, 3]}, cv=2, scoring=lambda gate, _: len(gate.draws_))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # half of the rows are few
        found = asked.fit(rows)
    assert found.best_params_ == {"draws": 3}
    assert clone(found.best_estimator_).get_params() == found.best_estimator_.get_params()


@pytest.mark.parametrize("what", ["nothing varies", "one row again and again", "few rows", "other units"])
def test_hostile_rows_as_they_come_have_finite_scores(what):
    random = np.random.default_rng(0)
    X = {
        "nothing varies": np.full((60, 3), 2.0),
        "one row again and again": np.repeat(random.normal(size=(1, 3)), 60, axis=0),
        "few rows": random.normal(size=(7, 3)),
        "other units": random.normal(size=(60, 3)) * [1e6, 1e-6, 1.0],
    }[what]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few are not calibrated
        gate = Detector(epochs=3, device="cpu").fit(X)
    asked = np.concatenate([X[:5], X[:5] + 1, 1e6 * X[:5], np.full((1, 3), 1e150)])
    assert np.isfinite(gate.score_samples(asked)).all()


def test_a_category_that_was_never_seen_is_told_by_a_flow():
    import pandas

    random = np.random.default_rng(0)
    frame = pandas.DataFrame({"size": random.normal(size=120), "colour": random.choice(["red", "blue"], 120)})
    gate = Detector(epochs=3, false_alarm_rate=0.1, device="cpu").fit(frame)
    asked = frame[:8].copy()
    asked.loc[3, "colour"] = "octarine"
    scores = -gate.score_samples(asked)
    assert np.isfinite(scores).all()
    assert scores.argmax() == 3
    assert gate.predict(asked)[3] == -1
