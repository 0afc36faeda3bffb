"""What is measured: every detector finds what is far away, and what is not here is left out."""

import json
import sys
from types import ModuleType

import numpy as np
import pytest

import dissensus
from benchmarks.places import RESULTS
from benchmarks.records import Records, digest
from benchmarks.tables.candidates import DEFAULT
from benchmarks.tables.detectors import BASE, DETECTORS, OURS, TITLES, find_detectors
from benchmarks.tables.others import PyOD
from benchmarks.tables.ours import Ours
from benchmarks.tables.simple import Simple
from dissensus.errors import CalibrationWarning, SettingsError
from dissensus.evaluation import auroc
from dissensus.scores import Fused

SIMPLE = [name for name, detector in DETECTORS.items() if isinstance(detector, Simple)]


@pytest.fixture(scope="module")
def rows():
    """Normal rows on a line in three columns of different scales, and anomalies off it."""
    random = np.random.default_rng(0)
    line = random.normal(size=(200, 1)) * [1.0, 100.0, 1.0] + random.normal(size=(200, 3)) * [0.1, 10.0, 0.1]
    return line, line[:50] + np.array([8.0, -800.0, 8.0])


@pytest.mark.parametrize("name", SIMPLE)
def test_far_rows_score_higher(name, rows):
    normal, strange = rows
    fitted = DETECTORS[name].fit(normal[:100], seed=0)
    scores = [fitted.score(each) for each in (normal[100:], strange)]
    assert scores[0].shape == (100,)
    assert auroc(*scores) > 0.9
    again = DETECTORS[name].fit(normal[:100], seed=0)
    np.testing.assert_array_equal(again.score(strange), scores[1])


def test_the_neighbours_are_of_standardised_columns(rows):
    normal, strange = rows
    score = DETECTORS[BASE].fit(normal, seed=0).score(strange[:1])
    apart = np.sort(np.linalg.norm((normal - strange[0]) / normal.std(axis=0), axis=1))
    assert score[0] == pytest.approx(apart[4])


def test_every_one_has_a_title_and_settings_that_can_be_recorded():
    assert set(TITLES) == set(DETECTORS)
    for name in SIMPLE:
        assert json.dumps(DETECTORS[name].settings())
        assert DETECTORS[name].lacking() is None
    assert list(find_detectors(["lof", "knn"])) == ["knn", "lof"]
    with pytest.raises(SettingsError, match="no detector 'x'; choose one of detector"):
        find_detectors(["x"])


def test_ours_calibrate_themselves(rows):
    normal, strange = rows
    changes = {"epochs": 2, "draws": 2, "samples": 1, "widths": (8,)}
    ours = Ours("BayesianVAE", changes)
    fitted = ours.fit(normal[:150], seed=3)
    gate = dissensus.BayesianVAE(**changes, device="cpu", random_state=3).fit(normal[:150])
    np.testing.assert_array_equal(fitted.p_values(fitted.score(strange)), gate.p_values(strange))
    described = fitted.describe(normal[150:], strange)
    assert described["statistics"][gate.statistic_] == auroc(
        fitted.score(normal[150:]), fitted.score(strange)
    )


@pytest.mark.parametrize("columns", [3, 70])
def test_sums_are_those_that_the_score_is(columns):
    """Of narrow rows the score adds up all four; of wide ones all but the likelihood."""
    random = np.random.default_rng(1)
    normal = random.normal(size=(240, columns))
    strange = random.normal(size=(40, columns)) * 1.2 + 0.2
    ours = Ours("Detector", {"epochs": 2, "chains": 2, "examples": 0})
    fitted = ours.fit(normal[:160], seed=2)
    described = fitted.describe(normal[160:], strange)
    sums = described["sums"]
    assert set(sums) == {"all", "nearest", "isolation", "gaussians", "mean-ll"}
    assert sums["all" if columns == 3 else "mean-ll"] == described["statistics"]["fused"]
    with pytest.warns(CalibrationWarning):
        trimmed = ours.fit(normal[:160], seed=2, contamination=0.1)
    assert trimmed.describe(normal[160:], strange)["sums"] == {}


def test_settings_of_ours_follow_the_defaults():
    settings = Ours("BayesianVAE", {"widths": (8,), "posterior": dissensus.SGHMC()}).settings()
    assert json.dumps(settings)
    assert (settings["class"], settings["draws"], settings["widths"]) == ("BayesianVAE", 20, [8])
    # What `fused` adds up of rows is a setting, too: with another sum a record is of another detector.
    assert settings["fused"] == {"rows": list(Fused.SURROUNDED), "wide": list(Fused.SURROUNDED_WIDE)}
    assert "fused" not in Ours("BayesianVAE", {"statistic": "kl"}).settings()
    assert not {"device", "random_state"} & set(settings)
    assert set(OURS) < set(DETECTORS)
    assert Ours("NoSuch").lacking() == "dissensus.NoSuch is left out: there is none"


def test_committed_records_are_of_the_detector_as_it_comes():
    """Else the next call would measure all of them again, and the tables would show another detector."""
    [settings] = {digest(each.settings["detector"]) for each in Records(RESULTS / "tables").read(DEFAULT)}
    assert settings == digest(DETECTORS[DEFAULT].settings())


def test_rows_have_one_effort(rows):
    """So that it is no setting of what is measured here."""
    gate = dissensus.Detector(epochs=2, chains=2, device="cpu", examples=0).fit(rows[0])
    assert [effort.name for effort in gate.efforts_] == ["thorough"]


def test_pyod_is_left_out_or_used_as_it_comes(monkeypatch, rows):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert "PyOD is not installed" in PyOD("vae", "VAE").lacking()
    monkeypatch.setattr("importlib.util.find_spec", lambda _: True)
    assert PyOD("vae", "VAE").lacking() is None
    given = []

    class VAE:
        def __init__(self, **settings):
            given.append(settings)

        def fit(self, _):
            return self

        def decision_function(self, asked):
            return np.float32(asked[:, 0])

    module = ModuleType("pyod.models.vae")
    module.VAE = VAE
    for name in ("pyod", "pyod.models"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "pyod.models.vae", module)
    scores = PyOD("vae", "VAE", seeded=True).fit(rows[0], seed=1).score(rows[1])
    assert scores.dtype == np.float64
    PyOD("vae", "VAE").fit(rows[0], seed=1)
    assert set(given[0]) == {"random_state", "device", "verbose"}
    assert given[1] == {}
