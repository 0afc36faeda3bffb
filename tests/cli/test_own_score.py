"""``--score package:Class``: a score of a person's own on the command line."""

import sys

import pytest

MODULE = """
import numpy as np
from dissensus.scores import MatrixScore

class Spread(MatrixScore):
    name, description = "spread", "how far the draws are apart"
    function = staticmethod(lambda matrix: np.ptp(matrix, axis=0))

class Picky(Spread):
    def __init__(self, power):
        self.power = power
"""
NAME = "scores_of_a_person:Spread"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The folder where a person works, with a module of her own in it."""
    (tmp_path / "scores_of_a_person.py").write_text(MODULE, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "scores_of_a_person", raising=False)
    return tmp_path


def test_every_command_takes_it(here, fit, dissensus, images_file):
    gate = here / "gate"
    answer = fit(images_file, gate, "--score", NAME, "--json")
    assert answer.code == 0, answer.err
    assert answer.json["statistic"] == "spread"
    own = ("--score", NAME)
    facts = dissensus("inspect", gate, *own, "--json").json
    assert (facts["statistic"], facts["statistic_in_words"]) == ("spread", "how far the draws are apart")
    assert dissensus("score", gate, images_file, *own, "--json").json["statistic"] == "spread"
    assert "spread" in dissensus("explain", gate, images_file, *own, "--json").json["statistics"]
    assert dissensus("calibrate", gate, images_file, *own, "--json").json["statistic"] == "spread"
    page = here / "page.html"
    answer = dissensus("report", gate, images_file, *own, "-o", page, "--json")
    assert answer.code == 0, answer.err
    assert answer.json["settings"]["statistic"] == "spread"


def test_without_it_the_gate_says_what_to_type(here, fit, dissensus, images_file):
    assert fit(images_file, here / "gate", "--score", NAME, "--quiet").code == 0
    for command in (["score", here / "gate", images_file], ["inspect", here / "gate"]):
        answer = dissensus(*command)
        assert answer.code == 2
        assert f"--score {NAME} on the command line" in " ".join(answer.err.split())


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("scores_of_a_person:Picky", "cannot be made without arguments"),
        ("scores_of_nobody:Spread", "there is no module 'scores_of_nobody' here"),
        ("nonsense", "there is no score 'nonsense'; choose one of ess, kl"),
    ],
)
def test_what_cannot_be_a_score_ends_with_a_sentence_before_data_is_read(here, fit, name, said):
    answer = fit(here / "no such data.npy", here / "gate", "--score", name)
    assert answer.code == 2
    assert said in " ".join(answer.err.split())
    assert not (here / "gate").exists()


def test_the_help_names_every_score(dissensus):
    from dissensus.scores import SCORES

    text = " ".join(dissensus("fit", "--help").out.replace("│", " ").split())
    assert f"What unusual means: {', '.join(SCORES)}, which joins several" in text


def test_a_score_of_the_package_has_its_old_name_too(here, fit, images_file):
    for option in ("--score", "--statistic"):
        assert fit(images_file, here / option, option, "std", "--json").json["statistic"] == "std"
    first, second = (here / option / "calibration.safetensors" for option in ("--score", "--statistic"))
    assert first.read_bytes() == second.read_bytes()
