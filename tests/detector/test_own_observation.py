"""Observation models of a person's own: fitted, saved, and passed again to load."""

import json
import math
from dataclasses import dataclass, field

import numpy as np
import pytest
import torch

from dissensus import BayesianVAE, Detector
from dissensus.errors import ArtifactError, SettingsError
from dissensus.models import Gaussian, ObservationModel, build_vae, check_observation


@dataclass(frozen=True)
class Laplace(ObservationModel):
    """p(x_d) = exp(−|x_d − μ_d| / scale) / (2 scale)."""

    name = "laplace"
    scale: float = 0.5

    @property
    def parameters_per_dimension(self):
        return 1

    def log_prob_terms(self, x, parameters):
        return self.best_log_prob_terms(x) - (x - parameters[:, 0]).abs() / self.scale

    def best_log_prob_terms(self, x):
        return torch.full_like(x, -math.log(2 * self.scale))

    def mean(self, parameters):
        return parameters[:, 0]

    def sample(self, parameters, generator):
        uniform = torch.rand(parameters[:, 0].shape, generator=generator, device=parameters.device) - 0.5
        return parameters[:, 0] - self.scale * uniform.sign() * (1 - 2 * uniform.abs()).log()


NAME = f"{Laplace.__module__}:Laplace"


@pytest.mark.parametrize("kind", ["rows", "pictures"])
def test_fitted_scored_saved_and_loaded(quick, inputs, kind, tmp_path):
    X = inputs[kind]
    gate = quick(observation=Laplace(scale=0.3)).fit(X)
    gate.save(tmp_path / "gate")
    config = json.loads((tmp_path / "gate/config.json").read_text("utf-8"))["detector"]
    assert config["model"]["config"]["observation"] == {"name": NAME, "scale": 0.3}
    assert ", observation=Laplace)" in (tmp_path / "gate/README.md").read_text("utf-8")
    for load in (BayesianVAE.load, Detector.load):
        for passed in (Laplace, Laplace(), [Gaussian, Laplace]):
            again = load(tmp_path / "gate", device="cpu", observation=passed)
            assert isinstance(again, BayesianVAE)
            assert again.observation == again.vae_.observation == Laplace(0.3)
            np.testing.assert_array_equal(again.score_samples(X), gate.score_samples(X))
    assert again.explain(X[:1])[0].decision.score == gate.explain(X[:1])[0].decision.score
    again.save(tmp_path / "copy")


@pytest.mark.parametrize(("passed", "said"), [(None, "pass it again"), (Gaussian, "what was passed is")])
def test_without_its_class_a_gate_says_what_it_lacks(quick, rows, tmp_path, passed, said):
    quick(observation=Laplace()).fit(rows).save(tmp_path / "gate")
    with pytest.raises(ArtifactError, match=f"its observation model is {NAME}") as error:
        Detector.load(tmp_path / "gate", device="cpu", observation=passed)
    assert said in str(error.value)
    assert f"load(…, observation=Laplace), or --observation {NAME}" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_vae_passed_as_an_object_may_have_one(quick, rows, tmp_path):
    settings = {name: value for name, value in quick().get_params().items() if name in ("epochs", "draws")}
    own = build_vae((4,), latent_size=2, widths=(8,), observation=Laplace(), generator=torch.Generator())
    gate = Detector(model=own, **settings, false_alarm_rate=0.5, device="cpu").fit(rows)
    gate.save(tmp_path / "gate")
    again = Detector.load(tmp_path / "gate", device="cpu", observation=Laplace)
    np.testing.assert_array_equal(again.score_samples(rows), gate.score_samples(rows))
    with pytest.raises(ArtifactError, match=f"its observation model is {NAME}"):
        Detector.load(tmp_path / "gate", device="cpu")


# ---- what could not be loaded back


@dataclass(frozen=True)
class Listed(Laplace):
    """Has a field that JSON gives back as a list."""

    name = "listed"
    sides: tuple[int, ...] = (1, 2)


@dataclass(frozen=True)
class Holding(Laplace):
    """Has a field that JSON cannot hold."""

    name = "holding"
    weights: torch.Tensor = field(default_factory=lambda: torch.zeros(2))


@dataclass(frozen=True)
class Derived(Laplace):
    """Has a field that its constructor does not take."""

    name = "derived"
    twice: float = field(default=1.0, init=False)


class Plain(Laplace):
    """Is no dataclass by itself, and keeps an argument that nobody saves."""

    name = "plain"

    def __init__(self, power):
        super().__init__()
        object.__setattr__(self, "power", power)


def local():
    @dataclass(frozen=True)
    class Local(Laplace):
        name = "local"

    return Local()


REFUSED = {
    "an unknown name": ("poisson", "observation='poisson' is not known: choose one of bernoulli"),
    "the name of a class": ("my_module:Laplace", "is the name of a class: import it and pass an object"),
    "a class": (Laplace, "is no observation model: choose one of auto, bernoulli"),
    "something else": (3, "observation=3 is no observation model: choose one of auto, bernoulli"),
    "a class inside a function": (local(), "the class Local is defined inside a function, where no gate"),
    "a list": (Listed(), ":Listed could not be loaded back: made again of its fields, it is not equal to"),
    "no JSON": (Holding(), ":Holding could not be loaded back (Object of type Tensor is not JSON"),
    "not a number": (Laplace(math.nan), ":Laplace could not be loaded back (Out of range float values"),
    "not for the constructor": (Derived(), ":Derived could not be loaded back ("),
    "no field": (Plain(2), ":Plain could not be loaded back ("),
}


@pytest.mark.parametrize(("own", "said"), REFUSED.values(), ids=REFUSED)
def test_what_could_not_be_loaded_back_is_refused_before_training(quick, rows, own, said, monkeypatch):
    def trained(*_, **__):
        raise AssertionError("it was trained")

    monkeypatch.setattr("dissensus.detector.drawing.sample_on_devices", trained)
    with pytest.raises(SettingsError) as error:
        quick(observation=own).fit(rows)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("own", ["auto", "gaussian", Gaussian(scale=None), Laplace(0.1)])
def test_what_can_be_is_not(own):
    check_observation(own)
