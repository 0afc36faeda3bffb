"""``dissensus fit --posterior``."""

import numpy as np
import pytest

from dissensus import BayesianVAE
from dissensus.posterior import POSTERIORS


@pytest.mark.parametrize("name", POSTERIORS)
def test_every_posterior(fit, dissensus, images_file, tmp_path, name):
    answer = fit(images_file, tmp_path / "gate", "--posterior", name, "--chains", 4, "--json")
    assert answer.code == 0, answer.err
    assert (answer.json["posterior"], answer.json["draws"]) == (name, 4)
    assert BayesianVAE.load(tmp_path / "gate").posterior == name
    assert dissensus("inspect", tmp_path / "gate", "--json").json["posterior"] == name
    assert f"4 draws of 4 chains ({name}, variant 1)" in " ".join(
        dissensus("inspect", tmp_path / "gate").out.split()
    )
    assert dissensus("score", tmp_path / "gate", images_file, "--json").json["inputs"] == 60


def test_what_is_not_known_or_cannot_work_ends_with_a_sentence(fit, images_file, tmp_path):
    answer = fit(images_file, tmp_path / "gate", "--posterior", "sgd")
    assert answer.code == 2
    assert "choose one of auto, sghmc, cyclical-sghmc" in " ".join(answer.err.split())
    answer = fit(images_file, tmp_path / "gate", "--posterior", "ensemble", "--chains", 2)
    assert answer.code == 2
    assert "set draws=2, or chains=4" in " ".join(answer.err.split())
    assert not (tmp_path / "gate").exists()


def test_steps_and_adaptation_reach_the_sampler(fit, dissensus, images_file, tmp_path):
    options = ("--step-size", 0.002, "--adaptation", 1)
    assert fit(images_file, tmp_path / "gate", *options, "--quiet").code == 0
    gate = BayesianVAE.load(tmp_path / "gate")
    assert (gate.step_size, gate.adaptation) == (0.002, 1)
    reports = gate.draws_.diagnostics.reports
    assert [report.adapting for report in reports if report.chain == 0] == [True, False, False, False]


@pytest.mark.parametrize("option", ["--step-size", "--adaptation"])
def test_what_does_not_sample_has_no_steps_to_choose(fit, images_file, tmp_path, option):
    answer = fit(images_file, tmp_path / "gate", "--posterior", "swag", option, 1)
    assert answer.code == 2
    assert f"{option} is for samplers (sghmc, cyclical-sghmc, sgld), and swag is not one of them" in " ".join(
        answer.err.split()
    )
    assert not (tmp_path / "gate").exists()


def test_chains_that_do_not_sample_are_told_of_once_with_a_remedy(fit, dissensus, tmp_path):
    rng = np.random.default_rng(0)
    plane = rng.normal(size=(600, 2)) @ rng.normal(size=(2, 20))
    np.save(tmp_path / "rows.npy", plane + 0.05 * rng.normal(size=(600, 20)))
    options = ("--epochs", 16, "--step-size", 0.0001, "--adaptation", 1)
    answer = fit(tmp_path / "rows.npy", tmp_path / "gate", *options)
    assert answer.code == 0
    told, said = (" ".join(text.split()) for text in (answer.err, answer.out))
    assert told.count("The draws are not from the posterior: the decoder's weights have not settled") == 1
    assert "--epochs 32" in told
    assert "--step-size 0.0002" in told
    assert "--adaptation 10" in told
    assert "SamplerWarning" not in told  # a sentence, and no raw warning
    assert "not from the posterior" not in said
    verdict = dissensus("inspect", tmp_path / "gate", "--json").json["health"]["verdict"]
    assert not verdict["sound"]
    assert told.count(" ".join([*verdict["problems"], verdict["remedy"]])) == 1
    for text in (
        dissensus("inspect", tmp_path / "gate").out,
        (tmp_path / "gate/README.md").read_text("utf-8"),
    ):
        assert " ".join(text.split()).count(verdict["problems"][0]) == 1


def test_what_suits_the_inputs_is_chosen_and_said(dissensus, images_file, tmp_path):
    np.save(tmp_path / "rows.npy", np.random.default_rng(0).normal(size=(60, 3)))
    few = ("--epochs", 1, "--false-alarm-rate", 0.2, "--json")
    answer = dissensus("fit", tmp_path / "rows.npy", "-o", tmp_path / "rows", *few)
    assert answer.json["model"]["name"] == "maf"
    assert [answer.json[name] for name in ("posterior", "chains", "draws")] == ["ensemble", 4, 4]
    shown = " ".join(dissensus("inspect", tmp_path / "rows").out.split())
    assert "has 4 draws of 4 chains (ensemble) of the model maf" in shown
    assert "The weights were fitted, not sampled" in shown
    answer = dissensus("fit", images_file, "-o", tmp_path / "pictures", *few, "--draws", 2)
    assert answer.json["model"]["name"] == "vae"
    assert [answer.json[name] for name in ("posterior", "chains", "draws")] == ["sghmc", 2, 2]
    answer = dissensus(
        "fit", tmp_path / "rows.npy", "-o", tmp_path / "vae", *few, "--latent-size", 1, "--draws", 2
    )
    assert answer.json["model"]["name"] == "vae"  # by an option that only VAEs have
