"""BayesianFlow: rows of every kind, every posterior and score, explanations by column, files."""

import json

import numpy as np
import pytest

from dissensus import BayesianFlow, Detector
from dissensus.errors import ArtifactError, SettingsError
from dissensus.models import MAF, NSF
from dissensus.posterior import POSTERIORS
from dissensus.scores import MATRIX, SCORES, Fused, score

QUICK = {"epochs": 6, "draws": 4, "hidden": (16,), "batch_size": 32, "false_alarm_rate": 0.2, "device": "cpu"}
pytestmark = pytest.mark.filterwarnings("ignore::dissensus.errors.CalibrationWarning")


@pytest.fixture(scope="module")
def rows():
    """600 rows: two columns that go together, one of three values, a constant, and one of heavy tails."""
    random = np.random.default_rng(0)
    first = random.normal(size=600)
    columns = [first, 2 * first + 0.3 * random.normal(size=600), random.integers(0, 3, 600)]
    return np.stack([*columns, np.full(600, 7.0), random.standard_t(2, 600)], axis=1)


@pytest.fixture(scope="module")
def gate(rows):
    return BayesianFlow(**{**QUICK, "epochs": 25}).fit(rows)


def test_scores_far_away_are_finite_and_rise_in_every_column(gate, rows):
    names = ("fused", "mean-ll", "mixture-ll", "std")
    scale = gate.preprocessor_.standardiser.scale
    far = 10.0 ** np.arange(3, 10)  # deviations; beyond 10⁴ all count as 10⁴
    for column in range(rows.shape[1]):
        for sign in (-1, 1):
            asked = np.repeat(rows[:1], len(far), axis=0)
            asked[:, column] += sign * far * scale[column]
            found = gate.statistics(asked)
            for name in names:
                assert np.isfinite(found[name]).all()
                assert (np.diff(found[name]) >= 0).all(), (column, name)
            assert found["mean-ll"][1] > found["mean-ll"][0] > gate.calibration_statistics_["mean-ll"].max()
            assert gate.decide(asked).flagged.all()


def test_what_breaks_the_habits_of_columns_is_flagged(gate):
    usual, torn_apart = [1.0, 2.0, 1.0, 7.0, 0.0], [1.0, -2.0, 1.0, 7.0, 0.0]
    not_constant = [1.0, 2.0, 1.0, 8.0, 0.0]
    found = gate.statistics([usual, torn_apart, not_constant])["mean-ll"]
    assert (found[1:] > found[0] + 3).all()


def test_the_planted_column_is_found(gate, rows):
    scale = gate.preprocessor_.standardiser.scale
    found = []
    for column in (0, 1, 2, 3, 4):
        asked = rows[column : column + 4].copy()
        asked[:, column] += 8 * scale[column]
        found += [why.ranking[0] == column for why in gate.explain(asked)]
    assert np.mean(found) >= 0.8


def test_every_score_of_the_matrix_is_there_and_no_other(gate, rows):
    plain = {name for name in SCORES if set(score(name).requires) == {MATRIX} and not score(name).learns}
    assert plain <= set(gate.statistics(rows[:3]))
    assert not {"reconstruction", "corrected-ll", "latent-norm"} & set(gate.statistics(rows[:3]))
    with pytest.raises(SettingsError, match="requires 'reconstruction'"):
        BayesianFlow(statistic=Fused(["mean-ll", "reconstruction"]), **QUICK).fit(rows)


def test_it_is_kept_and_loaded_to_the_bit(gate, rows, tmp_path):
    gate.save(tmp_path / "gate")
    config = json.loads((tmp_path / "gate" / "config.json").read_text("utf-8"))["detector"]
    assert (config["kind"], config["model"]["model"]) == ("BayesianFlow", "maf")
    for kind in (Detector, BayesianFlow):
        loaded = kind.load(tmp_path / "gate", device="cpu")
        assert type(loaded) is BayesianFlow
        assert loaded.get_params()["hidden"] == (16,)
        assert isinstance(loaded.flow_, MAF)
        np.testing.assert_array_equal(loaded.score_samples(rows[:50]), gate.score_samples(rows[:50]))
        np.testing.assert_array_equal(
            loaded.explain(rows[0]).disagreement, gate.explain(rows[0]).disagreement
        )


def test_a_row_gets_the_same_bits_alone(gate, rows):
    assert not gate.learnt_.one_a_call
    whole = gate.score_samples(rows[:40])
    np.testing.assert_array_equal([gate.score_samples(row[None])[0] for row in rows[:5]], whole[:5])


@pytest.mark.parametrize("posterior", POSTERIORS)
def test_every_posterior(posterior, rows):
    settings = {**QUICK, "posterior": posterior, "draws": 2 if posterior == "ensemble" else 4}
    gate = BayesianFlow(**settings).fit(rows[:200])
    assert gate.decide([[0, 0, 1, 7, 0], [50, -50, 1, 7, 0]]).flagged[1]


@pytest.mark.parametrize(("name", "kind"), [("flow", MAF), ("maf", MAF), ("nsf", NSF)])
def test_a_detector_takes_it_by_name(name, kind, rows):
    settings = {"epochs": 1, "draws": 2, "batch_size": 100, "device": "cpu"}
    assert isinstance(Detector(model=name, **settings).fit(rows[:200]).model_, kind)


def test_a_detector_takes_an_object(rows, tmp_path):
    settings = {"epochs": 1, "draws": 2, "batch_size": 100, "device": "cpu"}
    gate = Detector(model=MAF((5,), transforms=1, hidden=(8,)), **settings).fit(rows[:200])
    gate.save(tmp_path / "gate")
    loaded = Detector.load(tmp_path / "gate", device="cpu")
    assert loaded.model_.hidden == (8,)
    np.testing.assert_array_equal(loaded.score_samples(rows[:9]), gate.score_samples(rows[:9]))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"transforms": 10**9}, "transforms must lie between 1 and 64"),
        ({"hidden": [10**12]}, "the draws are not of this model"),
        ({"input_shape": [1 << 24]}, "the draws are not of this model"),
        ({"input_shape": [1 << 25]}, "claims inputs of more than"),
        ({"jitter": "much"}, "is no whole detector"),
    ],
)
def test_claims_of_a_file_are_refused_at_once(gate, tmp_path, monkeypatch, wrong, said):
    config = gate.flow_.config()
    monkeypatch.setattr(gate.flow_, "config", lambda: {**config, **wrong})
    gate.save(tmp_path / "gate")
    with pytest.raises(ArtifactError, match=said):
        Detector.load(tmp_path / "gate", device="cpu")


@pytest.mark.parametrize(
    ("kind", "shape"),
    [("maf", (200, 1)), ("maf", (30, 4)), ("maf", (30, 2000)), ("nsf", (200, 1)), ("realnvp", (30, 1))],
)
def test_rows_of_any_size(kind, shape):
    X = np.random.default_rng(0).normal(size=shape)
    gate = BayesianFlow(**{**QUICK, "epochs": 2, "draws": 2, "kind": kind}).fit(X)
    assert np.isfinite(gate.score_samples(X)).all()
    assert gate.score_samples(X[:1]) > gate.score_samples(X[:1] + 100)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"kind": "vae"}, "there is no flow 'vae'; choose one of maf, nsf, realnvp"),
        ({"kind": None}, "there is no flow None"),
        ({"transforms": 1.5}, "transforms must be a whole number"),
        ({"transforms": 65}, "transforms must lie between 1 and 64"),
        ({"hidden": 64}, "hidden must be widths of layers"),
        ({"hidden": (8, "a")}, "each width of hidden must be a whole number"),
        ({"hidden": ()}, "hidden must be 1 to 16 widths"),
        ({"jitter": "much"}, "jitter must be a number"),
        ({"jitter": -0.1}, "jitter must be a number of at least 0"),
    ],
)
def test_settings_that_cannot_work_are_refused_before_the_fit(wrong, said, rows):
    with pytest.raises(SettingsError, match=said):
        BayesianFlow(**wrong).fit(rows)


def test_pictures_are_refused_with_a_sentence():
    with pytest.raises(SettingsError, match=r"a flow is a density of rows.*embed=, or take a VAE"):
        BayesianFlow(**QUICK).fit(np.zeros((50, 8, 8), np.uint8))
