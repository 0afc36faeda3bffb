"""Gates with models and observation models of a person's own are served where the operator names them."""

import importlib
import math
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from dissensus import BayesianFlow, BayesianVAE, Detector
from dissensus.errors import ArtifactError, SettingsError

EXAMPLE = Path(__file__).parents[2] / "examples/own_model.py"
PARTS = Path(__file__).parents[1] / "contracts/own_parts.py"
PCA, SMALL, SHARP = (
    "models_of_an_operator:ProbabilisticPCA",
    "parts_of_an_operator:Small",
    "parts_of_an_operator:Sharp",
)
QUICK = {"epochs": 2, "draws": 2, "samples": 2, "false_alarm_rate": 0.2, "device": "cpu"}


PIXELS = "parts_of_an_operator:Pixels"


@pytest.fixture
def gates(tmp_path, monkeypatch, folder, pictures):
    """Four gates with code of their own beside two without; the folder, and the gates by name."""
    shutil.copy(EXAMPLE, tmp_path / "models_of_an_operator.py")
    shutil.copy(PARTS, tmp_path / "parts_of_an_operator.py")
    monkeypatch.syspath_prepend(tmp_path)
    for module in ("models_of_an_operator", "parts_of_an_operator"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    own = importlib.import_module("models_of_an_operator")
    parts = importlib.import_module("parts_of_an_operator")
    rows = np.random.default_rng(0).normal(size=(100, 3))
    made = {
        "pca": Detector(model=own.ProbabilisticPCA, **QUICK).fit(rows),
        "sharp": BayesianVAE(observation=parts.Sharp(), widths=(4,), latent_size=1, **QUICK).fit(rows),
        "pixels": Detector(model=parts.Pixels, **QUICK).fit(pictures),
        "small": Detector(model=parts.Small, **QUICK).fit(pictures),
    }
    made["flow"] = BayesianFlow(epochs=2, draws=2, hidden=(8,), false_alarm_rate=0.2, device="cpu").fit(rows)
    root = tmp_path / "gates"
    for name, gate in made.items():
        gate.save(root / name)
    shutil.copytree(folder / "rows", root / "rows")
    return root, made


def test_they_answer_as_the_library_does(gates, serving, numbers, pictures, as_png):
    root, made = gates
    with serving(root, models=(PCA, SMALL, PIXELS), observations=(SHARP,)) as running:
        for name in ("pca", "sharp", "flow"):
            answer = running.client.post(f"/score?gate={name}", json={"rows": numbers[:5].tolist()})
            assert answer.status_code == 200, answer.text
            found = [result["score"] for result in answer.json()["results"]]
            np.testing.assert_allclose(found, made[name].decide(numbers[:5]).score, rtol=1e-9)
        for name in ("small", "pixels"):
            answer = running.score([as_png(picture) for picture in pictures[:3]], gate=name)
            found = [result["score"] for result in answer.json()["results"]]
            np.testing.assert_allclose(found, made[name].decide(pictures[:3]).score, rtol=1e-9)
        assert running.service.gates.problems == {}


def test_what_is_said_about_them(gates, serving, numbers):
    root, made = gates
    with serving(root, models=(PCA, SMALL, PIXELS), observations=(SHARP,)) as running:

        def settings(name):
            answer = running.client.get(f"/gate?gate={name}")
            assert answer.status_code == 200, answer.text
            return answer.json()["settings"]

        assert settings("pca")["model"] == {"name": PCA}
        assert not {"variant", "samples"} & settings("pca").keys()  # neither means anything to an exact model
        assert settings("sharp")["model"] == {"name": "vae", "observation": "sharp", "latent_size": 1}
        assert settings("small")["model"]["name"] == SMALL
        assert (settings("small")["variant"], settings("small")["samples"]) == (1, 2)
        assert settings("flow")["model"] == {"name": "maf", "transforms": 3, "hidden": [8]}
        for name in ("pca", "flow"):
            answer = running.client.post(f"/explain?gate={name}", json={"rows": numbers[:1].tolist()})
            assert answer.status_code == 200, answer.text
            [explained] = made[name].explain(numbers[:1])
            assert math.isclose(answer.json()["decision"]["score"], explained.decision.score, rel_tol=1e-9)


def test_a_picture_is_explained_by_a_model_that_tells_no_terms(gates, serving, pictures, as_png):
    root, _ = gates
    with serving(root, models=(PCA, SMALL, PIXELS), observations=(SHARP,)) as running:
        answer = running.client.post("/explain?gate=pixels", files={"files": ("a.png", as_png(pictures[0]))})
        assert answer.status_code == 200, answer.text
        assert answer.json()["disagreement"]["png"].startswith("data:image/png")
        assert answer.json()["reconstructions"] == []
        assert answer.json()["nearest"]


def test_without_their_classes_the_others_are_served(gates, serving):
    root, _ = gates
    with serving(root, models=(PCA,)) as running:
        assert running.service.gates.names == ["flow", "pca", "rows"]
        assert f"--model {SMALL}" in running.service.gates.problems["small"]
        assert f"--observation {SHARP}" in running.service.gates.problems["sharp"]
    for name in ("flow", "rows", "small", "sharp", "pixels"):
        shutil.rmtree(root / name)
    with pytest.raises(ArtifactError, match=f"its model is {PCA}"), serving(root):
        pass


@pytest.mark.parametrize("setting", ["models", "observations"])
def test_a_class_that_is_not_there_stops_the_start(gates, serving, setting):
    said = f"--{setting[:-1]} nowhere_at_all:Own: there is no module"
    with pytest.raises(SettingsError, match=said), serving(gates[0], **{setting: ("nowhere_at_all:Own",)}):
        pass
