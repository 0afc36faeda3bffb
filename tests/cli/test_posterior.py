"""``dissensus fit --posterior``."""

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
    assert "choose one of sghmc, cyclical-sghmc" in " ".join(answer.err.split())
    answer = fit(images_file, tmp_path / "gate", "--posterior", "ensemble")
    assert answer.code == 2
    assert "set draws=2, or chains=4" in " ".join(answer.err.split())
    assert not (tmp_path / "gate").exists()
