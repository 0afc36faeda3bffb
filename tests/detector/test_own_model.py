"""Models of a person's own, from the fit to the loaded gate: probabilistic PCA, VAEs of other networks."""

import importlib
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal
from sklearn.base import clone
from torch import nn

from dissensus import BayesianVAE, Detector
from dissensus.errors import ArtifactError, SettingsError
from dissensus.inspection import assess
from dissensus.models import VAE, Bernoulli, GenerativeModel, default_observation
from dissensus.report import gate_page, gate_record

EXAMPLE = Path(__file__).parents[2] / "examples/own_model.py"
QUICK = {"epochs": 4, "draws": 4, "samples": 4, "batch_size": 16, "false_alarm_rate": 0.2, "device": "cpu"}


@pytest.fixture
def pca(tmp_path, monkeypatch):
    """The example's class, in a module that a person calls my_model."""
    shutil.copy(EXAMPLE, tmp_path / "my_model.py")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "my_model", raising=False)
    return importlib.import_module("my_model").ProbabilisticPCA


class Pixels(GenerativeModel):
    """p(x) = ∏ N(x_d; μ_d, 1/4) of pixels in [0, 1]: an exact model of pictures that tells no terms."""

    def __init__(self, shape):
        super().__init__()
        self.input_shape = tuple(shape)
        self.means = nn.Parameter(torch.zeros(*shape))

    def initialise_(self, generator):
        with torch.no_grad():
            self.means.copy_(torch.rand(self.means.shape, generator=generator))

    def read(self, x):
        return x.float() / 255 if x.dtype == torch.uint8 else x

    def objective(self, x, noise):
        return self.log_likelihood(x, noise, ())[0]

    def log_likelihood(self, x, noise, inferred):
        log_p = -2 * (self.read(x).double() - self.means.double()).square().flatten(1).sum(1)
        return log_p, torch.zeros_like(log_p)

    def facts(self):
        return {"pixels": self.means.numel()}

    def config(self):
        return {"shape": list(self.input_shape)}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


class Ringed(VAE):
    """A VAE whose networks are not of the package: a layer of tanh in each."""

    def __init__(self, shape, width=6, clip=None):
        size, own = int(np.prod(shape)), default_observation(shape)
        encoder = nn.Sequential(nn.Flatten(), nn.Linear(size, width), nn.Tanh(), nn.Linear(width, 4))
        per_place = own.parameters_per_dimension
        decoder = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, size * per_place))
        super().__init__(encoder, decoder, own, shape, 2, clip=clip)
        self.width = width

    def config(self):
        return {"shape": list(self.input_shape), "width": self.width, "clip": self.clip}

    @classmethod
    def from_config(cls, config):
        return cls(**config)

    @classmethod
    def for_inputs(cls, shape, *, clip, generator):  # noqa: ARG003
        return cls(shape, clip=clip)


def goes_all_the_way(gate, X, own, folder):
    """Fit, score, explain, report, save and load; gives the loaded gate."""
    gate.fit(X)
    some = X[:9]
    scores = -gate.score_samples(some)
    assert np.isfinite(scores).all()
    alone = np.concatenate([-gate.score_samples(some[n : n + 1]) for n in range(9)])
    np.testing.assert_array_equal(alone, scores)
    explained = gate.explain(some)
    assert [e.decision.score for e in explained] == scores.tolist()
    assert all(e.disagreement.shape == explained[0].disagreement.shape for e in explained)
    assert max(e.disagreement.max() for e in explained) > 0
    found = assess(gate, some, shown=2)
    name = f"{own.__module__}:{own.__qualname__}"
    assert gate_record(found)["settings"]["model"]["name"] == name
    assert name in gate_page(found)

    gate.save(folder)
    config = json.loads((folder / "config.json").read_text("utf-8"))["detector"]
    assert config["kind"] == "Detector"
    assert config["model"]["model"] == name
    card = (folder / "README.md").read_text("utf-8")
    assert f"from {own.__module__} import {own.__name__}  # the model's own code" in card
    assert f'gate = Detector.load("path/to/this/folder", model={own.__name__})' in card
    for passed in (own, gate.model_, [Pixels, own]):
        again = Detector.load(folder, device="cpu", model=passed)
        np.testing.assert_array_equal(again.score_samples(X), gate.score_samples(X))
        np.testing.assert_array_equal(again.p_values(X), gate.p_values(X))
    refitted = clone(again).fit(X)
    np.testing.assert_array_equal(refitted.score_samples(X), gate.score_samples(X))
    again.save(folder.with_name("copy"))
    return again


@pytest.mark.parametrize("statistic", ["fused", "ess", "mixture-ll"])
def test_probabilistic_pca_as_an_object_and_as_a_class(pca, rows, tmp_path, statistic):
    own = pca(shape=(4,))
    before = {name: weight.clone() for name, weight in own.named_parameters()}
    gate = Detector(model=own, statistic=statistic, **QUICK)
    goes_all_the_way(gate, rows, pca, tmp_path / "gate")
    assert gate.model is own
    assert all(torch.equal(weight, before[name]) for name, weight in own.named_parameters())
    named = Detector(model=pca, statistic=statistic, **QUICK).fit(rows)
    np.testing.assert_array_equal(named.score_samples(rows), gate.score_samples(rows))


def test_its_log_likelihoods_are_exact(pca, rows):
    gate = Detector(model=pca, **QUICK).fit(rows)
    standardised = (rows - gate.preprocessor_.standardiser.mean) / gate.preprocessor_.standardiser.scale
    matrix = gate.log_likelihoods(rows).values
    for m in range(4):
        weights = {name: value.double().numpy() for name, value in gate.draws_.weights("model", m).items()}
        W, scale = weights["loadings"], np.exp(weights["log_scale"])
        law = multivariate_normal(weights["bias"], W @ W.T + scale**2 * np.eye(4))
        np.testing.assert_allclose(matrix[m], law.logpdf(standardised), rtol=1e-4)
    assert gate.noise_floor_ == 0


@pytest.mark.parametrize("kind", ["rows", "pictures"])
def test_a_vae_of_other_networks(inputs, tmp_path, kind):
    again = goes_all_the_way(Detector(model=Ringed, **QUICK), inputs[kind], Ringed, tmp_path / "gate")
    assert again.model_.facts()["latent_size"] == 2
    assert again.explain(inputs[kind][:1])[0].reconstructions.shape[1:] == again.preprocessor_.shape


def test_pictures_under_a_model_that_tells_no_terms(pictures, tmp_path):
    again = goes_all_the_way(Detector(model=Pixels, **QUICK), pictures, Pixels, tmp_path / "gate")
    [explained] = again.explain(pictures[:1])
    assert explained.disagreement.shape == (10, 12)
    assert explained.reconstructions.shape == (0, 10, 12, 1)
    page = gate_page(assess(again, pictures[:5], shown=1))
    assert "(pixels 120)" in page
    assert "Orange marks the patches that make the draws disagree" in page
    assert "as draws see it" not in page  # it does not reconstruct


def test_a_frame_is_for_any_model(pca, tmp_path):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(40, 10, 80), "pet": rng.choice(["cat", "dog"], 80)})
    gate = Detector(model=pca, **QUICK).fit(frame)
    gate.save(tmp_path / "gate")
    again = Detector.load(tmp_path / "gate", device="cpu", model=pca)
    np.testing.assert_array_equal(again.score_samples(frame[["pet", "age"]]), gate.score_samples(frame))
    assert again.explain(frame[:1])[0].columns == gate.preprocessor_.columns


# ---- loading


@pytest.fixture
def saved(pca, rows, tmp_path):
    Detector(model=pca, **QUICK).fit(rows).save(tmp_path / "gate")
    return tmp_path / "gate"


@pytest.mark.parametrize(("passed", "said"), [(None, "pass it again"), (Pixels, "what was passed is")])
def test_without_its_class_a_gate_says_what_it_lacks(saved, passed, said):
    with pytest.raises(ArtifactError, match="its model is my_model:ProbabilisticPCA") as error:
        Detector.load(saved, device="cpu", model=passed)
    assert said in str(error.value)
    assert "load(…, model=ProbabilisticPCA), or --model my_model:ProbabilisticPCA" in str(error.value)
    assert "\n" not in str(error.value)


def test_it_is_no_bayesian_vae(saved, pca):
    with pytest.raises(ArtifactError, match=r"it is no BayesianVAE: load it with Detector\.load"):
        BayesianVAE.load(saved, device="cpu", model=pca)


def test_a_name_in_a_gate_is_never_imported(saved, tmp_path, monkeypatch):
    (tmp_path / "my_model.py").write_text("raise SystemExit('imported')", "utf-8")
    monkeypatch.delitem(sys.modules, "my_model")
    with pytest.raises(ArtifactError, match="its model is my_model:ProbabilisticPCA"):
        Detector.load(saved, device="cpu")
    assert "my_model" not in sys.modules


def test_a_class_that_has_changed_since_is_refused(saved, pca, monkeypatch):
    before = pca.__init__
    monkeypatch.setattr(pca, "__init__", lambda self, shape, latents: before(self, shape, latents + 1))
    with pytest.raises(ArtifactError, match="the draws are not of this model"):
        Detector.load(saved, device="cpu", model=pca)


# ---- what could not be loaded back


class Forgetful(Pixels):
    def config(self):
        raise NotImplementedError("none")


@pytest.mark.parametrize("model", [Forgetful, Forgetful((1, 10, 12)), "flow-of-tomorrow", 3])
def test_what_could_not_be_loaded_back_is_refused_before_training(pictures, monkeypatch, model):
    def trained(*_, **__):
        raise AssertionError("it was trained")

    monkeypatch.setattr("dissensus.detector.drawing.sample_on_devices", trained)
    with pytest.raises(
        SettingsError, match=r"could not be loaded back|there is no model|is no model"
    ) as error:
        Detector(model=model, **QUICK).fit(pictures)
    assert "\n" not in str(error.value)


def test_a_vae_passed_as_an_object_may_have_an_observation_model_of_the_package(rows, tmp_path):
    own = Ringed((4,), width=3)
    gate = Detector(model=own, **QUICK).fit(rows)
    assert type(gate.model_) is Ringed
    pictures = Detector(model=VAE.for_inputs((1, 8, 8), clip=None, generator=torch.Generator()), **QUICK)
    pictures.fit(np.random.default_rng(0).random((60, 8, 8)))
    assert pictures.model_.observation == Bernoulli()
    pictures.save(tmp_path / "gate")
    assert Detector.load(tmp_path / "gate", device="cpu").model == "vae"
