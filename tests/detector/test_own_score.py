"""Scores as objects, of the package or a person's own, from the fit to the loaded gate."""

import hashlib
import json
import sys

import numpy as np
import pytest
from sklearn.base import clone

from dissensus import BayesianVAE
from dissensus.errors import ArtifactError, DataError, SettingsError
from dissensus.inspection import assess
from dissensus.report import gate_record
from dissensus.scores import Fused, MatrixScore, Score, Typicality, Whitened, score
from tests import warm_python


class Lead(MatrixScore):
    """How far the best draw is ahead of the middle one."""

    name = "lead"
    description = "how far the best draw is ahead of the middle one"
    least_draws = 2
    function = staticmethod(lambda matrix: matrix.max(axis=0) - np.median(matrix, axis=0))


class Distance(Score):
    """Deviations of one statistic from its mean among inliers: learns, has an argument, reads no matrix."""

    name = "distance"
    description = "how many deviations a statistic is from its mean"

    def __init__(self, statistic="latent-norm"):
        self.statistic = statistic

    @property
    def requires(self):
        return (self.statistic,)

    def fit(self, measured):
        values = measured.statistic(self.statistic)
        self.line_ = np.array([values.mean(), values.std()])
        return self

    def __call__(self, measured):
        self.check_fitted("line_")
        return np.abs(measured.statistic(self.statistic) - self.line_[0]) / self.line_[1]

    def state(self):
        return {"line": self.line_}

    def restore(self, state):
        self.line_ = state["line"]
        return self


OBJECTS = {
    "a score of one's own": Lead(),
    "one that learns": Distance("reconstruction"),
    "one of the package": Whitened(),
    "a fusion of one's own": Fused(["kl", "latent-norm"], depth="gaussian"),
}
BOTH = pytest.mark.parametrize("kind", ["rows", "pictures"])


@BOTH
@pytest.mark.parametrize("own", OBJECTS.values(), ids=OBJECTS)
def test_an_object_fits_scores_explains_is_saved_and_comes_back(quick, inputs, kind, own, tmp_path):
    X = inputs[kind]
    gate = quick(statistic=own).fit(X)
    assert gate.statistic is own
    assert gate.score_ is not own
    assert gate.statistic_ == own.name
    some = X[:9]
    scores = -gate.score_samples(some)
    assert next(iter(gate.statistics(some))) == own.name
    np.testing.assert_array_equal(gate.statistics(some)[own.name], scores)
    alone = np.concatenate([-gate.score_samples(some[n : n + 1]) for n in range(9)])
    np.testing.assert_array_equal(alone, scores)
    assert [e.decision.score for e in gate.explain(some)] == scores.tolist()
    assert gate_record(assess(gate, some, shown=1))["settings"]["statistic"] == own.name

    gate.save(tmp_path / "gate")
    assert gate.score_.description in (tmp_path / "gate/README.md").read_text("utf-8")
    for passed in (own, type(own), [Typicality, type(own)]):
        again = BayesianVAE.load(tmp_path / "gate", device="cpu", statistic=passed)
        np.testing.assert_array_equal(again.score_samples(X), gate.score_samples(X))
        np.testing.assert_array_equal(again.p_values(X), gate.p_values(X))
        assert repr(again.statistic) == repr(own)
    again.save(tmp_path / "copy")
    refitted = clone(again).fit(X)
    np.testing.assert_array_equal(refitted.score_samples(X), gate.score_samples(X))


def test_the_person_s_object_is_never_changed(quick, rows):
    own = Distance()
    gate = quick(statistic=own).fit(rows)
    assert not hasattr(own, "line_")
    assert not hasattr(gate.statistic, "line_")
    fitted_before = Distance().restore({"line": np.array([1.0, 2.0])})
    quick(statistic=fitted_before).fit(rows)
    assert fitted_before.line_.tolist() == [1.0, 2.0]


def test_an_object_and_its_name_are_the_same_score(quick, rows):
    for name in ("std", "whitened"):
        named, given = quick(statistic=name).fit(rows), quick(statistic=score(name)).fit(rows)
        np.testing.assert_array_equal(named.score_samples(rows), given.score_samples(rows))


def test_only_what_the_score_requires_is_measured(quick, pictures, monkeypatch):
    from dissensus.detector import measuring

    asked = []
    real = measuring.input_statistics

    def spied(*arguments, only, **rest):
        asked.append(sorted(only))
        return real(*arguments, only=only, **rest)

    monkeypatch.setattr(measuring, "input_statistics", spied)

    def matrix(*_, **__):
        raise AssertionError("the matrix was not required")

    def images(*_, **__):
        raise AssertionError("nothing of the pictures themselves was required")

    lead, far = (quick(statistic=own).fit(pictures) for own in (Lead(), Distance()))
    asked.clear()
    monkeypatch.setattr(type(lead.preprocessor_), "statistics", images)
    lead.score_samples(pictures)
    assert asked == []
    monkeypatch.setattr(measuring, "likelihoods", matrix)
    seen = []
    far.decide(pictures, on_progress=lambda *report: seen.append(report))
    assert asked == [["latent-norm"]]
    assert seen[-1] == ("scoring", len(pictures), len(pictures))


# ---- loading


@pytest.fixture
def saved(quick, rows, tmp_path):
    quick(statistic=Distance()).fit(rows).save(tmp_path / "gate")
    return tmp_path / "gate"


def test_the_gate_names_the_class_and_what_to_pass(saved):
    config = json.loads((saved / "config.json").read_text("utf-8"))["detector"]
    assert config["score"]["score"].endswith("test_own_score:Distance")
    assert config["score"]["config"] == {"statistic": "latent-norm"}
    card = (saved / "README.md").read_text("utf-8")
    assert 'BayesianVAE.load("path/to/this/folder", statistic=Distance)' in card
    assert "test_own_score import Distance  # the score's own code, which is not in this folder" in card


@pytest.mark.parametrize(("passed", "said"), [(None, "pass it again"), (Lead, "what was passed is")])
def test_without_its_class_a_gate_says_what_it_lacks(saved, passed, said):
    with pytest.raises(ArtifactError, match=r"its score is \S*test_own_score:Distance") as error:
        BayesianVAE.load(saved, device="cpu", statistic=passed)
    assert said in str(error.value)
    assert "load(…, statistic=Distance), or --score" in str(error.value)
    assert "\n" not in str(error.value)


def tampered(folder, change):
    """Changes a saved gate and makes its digest right again."""
    config = json.loads((folder / "config.json").read_text("utf-8"))
    change(config["detector"])
    config.pop("digest")
    config["digest"] = hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()
    (folder / "config.json").write_text(json.dumps(config), "utf-8")


def test_a_name_in_a_gate_is_never_imported(saved, tmp_path, monkeypatch):
    (tmp_path / "planted_by_a_stranger.py").write_text("raise SystemExit('imported')", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    tampered(saved, lambda config: config["score"].update(score="planted_by_a_stranger:Distance"))
    for passed in (None, Distance):
        with pytest.raises(ArtifactError, match="its score is planted_by_a_stranger:Distance"):
            BayesianVAE.load(saved, device="cpu", statistic=passed)
    assert "planted_by_a_stranger" not in sys.modules


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda c: c["score"].update(score="aura"), "there is no score 'aura' here: upgrade"),
        (lambda c: c["score"].update(score=["kl"]), "no whole detector"),
        (lambda c: c["score"]["config"].update(power=3), "no whole detector"),
        (
            lambda c: c["score"]["config"].update(statistic="aura"),
            "requires 'aura', which is no statistic",
        ),
        (lambda c: c["settings"].update(statistic="kl"), "not the name of its score"),
    ],
)
def test_a_false_claim_about_the_score_is_refused(saved, change, said):
    tampered(saved, change)
    with pytest.raises(ArtifactError, match=said) as error:
        BayesianVAE.load(saved, device="cpu", statistic=Distance)
    assert "\n" not in str(error.value)


def test_a_name_set_after_the_fit_waits_for_another_one(quick, rows, tmp_path):
    gate = quick(statistic=Lead()).fit(rows)
    before = gate.score_samples(rows)
    gate.set_params(statistic="kl").save(tmp_path / "gate")
    again = BayesianVAE.load(tmp_path / "gate", device="cpu", statistic=Lead)
    assert again.statistic_ == "lead"
    np.testing.assert_array_equal(again.score_samples(rows), before)


SCRIPT = """
import sys
import numpy as np
from dissensus import BayesianVAE
from dissensus.scores import MatrixScore

class Spread(MatrixScore):
    name, description = "spread", "how far the draws are apart"
    function = staticmethod(lambda matrix: np.ptp(matrix, axis=0))

if __name__ == "__main__":
    rows = np.random.default_rng(0).normal(size=(60, 2))
    settings = dict(epochs=2, draws=2, samples=2, widths=(4,), latent_size=1, device="cpu")
    settings["false_alarm_rate"] = 0.5
    BayesianVAE(**settings, statistic=Spread()).fit(rows).save(sys.argv[1])
"""


def test_a_score_of_a_script_is_loaded_from_a_module(tmp_path, monkeypatch):
    (tmp_path / "spread_of_a_script.py").write_text(SCRIPT, "utf-8")
    warm_python.run([sys.executable, tmp_path / "spread_of_a_script.py", tmp_path / "gate"], check=True)
    with pytest.raises(ArtifactError, match=r"its score is __main__:Spread, .*--score MODULE:Spread"):
        BayesianVAE.load(tmp_path / "gate", device="cpu")
    monkeypatch.syspath_prepend(tmp_path)
    from spread_of_a_script import Spread

    gate = BayesianVAE.load(tmp_path / "gate", device="cpu", statistic=Spread)
    assert (gate.score_samples(np.zeros((2, 2))) <= 0).all()


# ---- what is refused before the fit


class Forgetful(Distance):
    """Learns, and says nothing of it."""

    state, restore = Score.state, Score.restore


class Unwritten(Lead):
    """Has an argument that no JSON holds."""

    def __init__(self, function=np.median):
        self.of = self.function_given = function

    def config(self):
        return {"function": self.of}


class Lost(Lead):
    """Does not keep its argument."""

    def __init__(self, power=2):
        pass


class Changing(Lead):
    """Comes back otherwise."""

    def __init__(self, power=2):
        self.power = power + 1


class Doubled(Lead):
    """Has the name of another score."""

    name = "kl"


class Nameless(Lead):
    """Has a name that no file could hold."""

    name = "../lead"


def local():
    class Inside(Lead):
        """Defined where nobody can name it."""

    return Inside()


@pytest.mark.parametrize(
    ("statistic", "said"),
    [
        (lambda matrix: matrix[0], "is no score: choose one of ess, kl"),
        (Lead, r"statistic=Lead is a class: pass an object, Lead\(\)"),
        ("my_scores:Lead", "is the name of a class: import it and pass an object"),
        (local(), "Inside is defined inside a function.*define it at the top of a module"),
        (Forgetful(), r"Forgetful learns, and what it learns could not be saved: write state\(\)"),
        (Unwritten(), r"Unwritten could not be loaded back from its config\(\)"),
        (Lost(), "Lost does not keep its argument 'power' as an attribute of that name"),
        (Changing(), "Changing comes back otherwise from its config"),
        (Doubled(), "has the name of one of the package: call it other than 'kl'"),
        (Nameless(), "is called '../lead': its name must be of letters"),
    ],
)
def test_what_could_not_be_saved_is_refused_before_any_input_is_read(quick, statistic, said):
    with pytest.raises(SettingsError, match=said) as error:
        quick(statistic=statistic).fit("there is no such file.npy")
    assert "\n" not in str(error.value)


class Crooked(Lead):
    """Gives one number for all."""

    function = staticmethod(lambda matrix: matrix.max())


class Failing(Lead):
    """Reads what it does not require."""

    def __call__(self, measured):
        return measured.statistic("latent-norm")


class Careless(Distance):
    """Loses what it learnt."""

    def state(self):
        return {"line": self.line_ + 1}


class Usurper(Lead):
    """Has the name of a statistic."""

    name = "latent-norm"


@pytest.mark.parametrize(
    ("statistic", "said"),
    [
        (Crooked(), r"fails on made-up numbers \(DataError: the score lead must give 5 floating"),
        (Failing(), "the statistic 'latent-norm' is missing among none: a score must name what it reads"),
        (Careless(), r"scores otherwise after restore\(state\(\)\)"),
        (Distance("code-length"), "requires 'code-length', which is no statistic of such inputs here: there"),
        (Distance("latent-spread"), "requires 'latent-spread', which is no statistic of such inputs"),
        (Fused(["kl", "aura"]), "requires 'aura'"),
        (Usurper(), "has the name of a statistic: call it otherwise"),
    ],
)
def test_what_cannot_work_is_refused_before_training(quick, rows, statistic, said, monkeypatch):
    def trained(*_, **__):
        raise AssertionError("it was trained")

    monkeypatch.setattr("dissensus.detector.drawing.sample_on_devices", trained)
    with pytest.raises(SettingsError, match=said) as error:
        quick(statistic=statistic).fit(rows)
    assert "\n" not in str(error.value)


def test_what_varies_within_chains_is_there_where_encoders_are_drawn(quick, rows):
    gate = quick(statistic=Distance("latent-spread"), variant=2).fit(rows)
    assert np.isfinite(gate.score_samples(rows)).all()


def test_scores_that_are_no_numbers_name_the_score(quick, rows, monkeypatch):
    gate = quick(statistic=Lead()).fit(rows)
    monkeypatch.setattr(Lead, "function", staticmethod(lambda matrix: np.full(matrix.shape[1], np.nan)))
    with pytest.raises(DataError, match="the score lead of input 0 is NaN"):
        gate.score_samples(rows[:3])
