"""``--model`` and ``--observation`` with classes of a person's own on the command line."""

import json
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import dissensus as package
from dissensus import BayesianFlow, BayesianVAE, Detector
from tests import warm_python

EXAMPLE = Path(__file__).parents[2] / "examples/own_model.py"
PARTS = Path(__file__).parents[1] / "contracts/own_parts.py"
QUICK = ["--epochs", "4", "--draws", "4", "--samples", "2", "--false-alarm-rate", "0.5"]
PCA, SMALL, SHARP = "my_model:ProbabilisticPCA", "my_parts:Small", "my_parts:Sharp"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The folder where a person works, with modules of her own in it."""
    shutil.copy(EXAMPLE, tmp_path / "my_model.py")
    shutil.copy(PARTS, tmp_path / "my_parts.py")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for module in ("my_model", "my_parts"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    return tmp_path


@pytest.fixture
def table(here):
    rng = np.random.default_rng(0)
    lines = [f"{a:.3f},{b:.3f},{rng.choice(['cat', 'dog'])}" for a, b in rng.normal(size=(60, 2))]
    (here / "table.csv").write_text("\n".join(["a,b,pet", *lines]), "utf-8")
    return here / "table.csv"


def every_command(dissensus, gate, data, own, name):
    """All that a gate is asked on the command line; each must know it by its class."""
    facts = dissensus("inspect", gate, *own, "--json").json
    assert facts["model"]["name"] == name
    in_words = dissensus("inspect", gate, *own)
    assert in_words.code == 0, in_words.err
    assert f"of the model {name}" in " ".join(in_words.out.split())
    answer = dissensus("score", gate, data, *own, "-o", gate / "../rows.csv", "--json")
    assert (answer.code, answer.json["inputs"]) == (0, 60), answer.err
    assert dissensus("explain", gate, data, *own, "--json").json["disagreement"]
    assert dissensus("calibrate", gate, data, *own, "--json").json["calibration_inputs"] == 60
    answer = dissensus("report", gate, data, *own, "-o", gate / "../page.html", "--json")
    assert answer.code == 0, answer.err
    assert answer.json["settings"]["model"]["name"] == name
    return facts


def test_every_command_takes_a_model(here, table, dissensus):
    answer = dissensus("fit", table, "-o", here / "gate", *QUICK, "--model", PCA, "--json")
    assert answer.code == 0, answer.err
    assert answer.json["model"] == {"name": PCA}
    facts = every_command(dissensus, here / "gate", table, ("--model", PCA), PCA)
    assert (facts["variant"], facts["samples"]) == (None, None)  # neither means anything to an exact model


def test_every_command_takes_a_flow_by_name(here, table, dissensus):
    answer = dissensus("fit", table, "-o", here / "gate", *QUICK, "--model", "maf", "--json")
    assert answer.code == 0, answer.err
    assert answer.json["model"] == {"name": "maf", "transforms": 3, "hidden": [64, 64]}
    facts = every_command(dissensus, here / "gate", table, (), "maf")
    assert (facts["variant"], facts["samples"]) == (None, None)
    gate = Detector.load(here / "gate")
    assert isinstance(gate, BayesianFlow)
    assert gate.step_size == BayesianFlow().step_size  # not that of VAEs, unless it is asked for


def test_every_command_takes_a_vae_of_other_networks(here, images_file, dissensus):
    answer = dissensus("fit", images_file, "-o", here / "gate", *QUICK, "--model", SMALL, "--json")
    assert answer.code == 0, answer.err
    facts = every_command(dissensus, here / "gate", images_file, ("--model", SMALL), SMALL)
    assert (facts["variant"], facts["samples"], facts["model"]["latent_size"]) == (1, 2, 2)


def test_every_command_takes_an_observation_model(here, images_file, fit, dissensus):
    answer = fit(images_file, here / "gate", "--observation", SHARP, "--json")
    assert answer.code == 0, answer.err
    assert answer.json["model"] == {"name": "vae", "observation": "sharp", "latent_size": 2}
    every_command(dissensus, here / "gate", images_file, ("--observation", SHARP), "vae")


def test_in_a_process_of_its_own(here, table):
    """As a person does it with the installed script: -P keeps the current folder from Python's own path."""
    path = str(Path(package.__file__).parents[1])

    def call(*arguments):
        return warm_python.run(
            [sys.executable, "-P", "-c", "from dissensus.cli import main; main()", *arguments],
            cwd=here,
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=False,
        )

    fitted = call("fit", "table.csv", "-o", "gate", *QUICK, "--model", PCA, "--device", "cpu", "--quiet")
    assert fitted.returncode == 0, fitted.stderr
    scored = call("score", "gate", "table.csv", "--model", PCA, "--device", "cpu", "--format", "jsonl", "-q")
    assert scored.returncode == 0, scored.stderr
    sys.path.append(str(here))
    from my_model import ProbabilisticPCA

    found = [json.loads(line)["score"] for line in scored.stdout.splitlines()]
    gate = Detector.load("gate", device="cpu", model=ProbabilisticPCA)
    assert found == gate.decide("table.csv").score.tolist()
    without = call("score", "gate", "table.csv")
    assert (without.returncode, without.stdout) == (2, "")
    assert f"--model {PCA} on the command line" in " ".join(without.stderr.split())


@pytest.mark.parametrize(
    ("own", "said"),
    [
        (["--model", PCA], f"--model {PCA} on the command line"),
        (["--observation", SHARP], f"--observation {SHARP} on the command line"),
    ],
)
def test_without_it_the_gate_says_what_to_type(here, images_file, table, dissensus, own, said):
    data = table if PCA in own else images_file
    assert dissensus("fit", data, "-o", here / "gate", *QUICK, *own, "--quiet").code == 0
    for command in (["score", here / "gate", data], ["inspect", here / "gate"]):
        answer = dissensus(*command)
        assert answer.code == 2
        assert said in " ".join(answer.err.split())


@pytest.mark.parametrize(
    ("own", "said"),
    [
        (["--model", "flow-of-tomorrow"], "there is no model 'flow-of-tomorrow'; choose one of auto, vae"),
        (["--model", "my_model:Nothing"], "--model my_model:Nothing: module 'my_model' has no attribute"),
        (["--model", "models_of_nobody:PCA"], "there is no module 'models_of_nobody' here"),
        (["--model", SHARP], "is no GenerativeModel: it must be a class that inherits from"),
        (["--observation", SMALL], "is no ObservationModel: it must be a class that inherits from"),
        (
            ["--observation", "my_parts:Picky"],
            "--observation my_parts:Picky cannot be made without arguments",
        ),
        (["--observation", "poisson"], "observation='poisson' is not known"),
        (["--model", PCA, "--variant", "1"], f"--variant is for VAEs, and the model is {PCA}: leave one of"),
        (["--model", SMALL, "--latent-size", "3"], "--latent-size is for VAEs"),
        (["--model", "maf", "--latent-size", "3"], "--latent-size is for VAEs, and the model is maf"),
        (
            ["--model", "auto", "--observation", "gaussian"],
            "--observation is for VAEs, and the model is auto",
        ),
    ],
)
def test_what_cannot_work_ends_with_a_sentence_before_data_is_read(here, dissensus, own, said):
    answer = dissensus("fit", here / "no such data.npy", "-o", here / "gate", *QUICK, *own)
    assert answer.code == 2
    assert said in " ".join(answer.err.split())
    assert not (here / "gate").exists()


def test_what_could_not_be_loaded_back_is_refused(here, images_file, dissensus):
    answer = dissensus("fit", images_file, "-o", here / "gate", *QUICK, "--model", "my_parts:Unsaved")
    assert answer.code == 2
    assert "the model my_parts:Unsaved could not be loaded back" in " ".join(answer.err.split())
    assert not (here / "gate").exists()


def test_a_family_by_name(here, images_file, fit, dissensus):
    """``vae`` is what there is without --model, with the same options; auto chooses for the inputs."""
    for folder, own in (("without", []), ("named", ["--model", "vae"])):
        assert fit(images_file, here / folder, "--variant", "2", *own, "--quiet").code == 0
    first, second = (here / folder / "draws.safetensors" for folder in ("without", "named"))
    assert first.read_bytes() == second.read_bytes()
    assert isinstance(Detector.load(here / "named"), BayesianVAE)
    assert dissensus("fit", images_file, "-o", here / "auto", *QUICK, "--model", "auto", "--quiet").code == 0
    assert Detector.load(here / "auto").model == "vae"
