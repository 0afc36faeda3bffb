"""Gates with a score of a person's own are served where the operator names its class."""

import shutil
import sys

import numpy as np
import pytest

from dissensus import BayesianVAE
from dissensus.errors import ArtifactError, SettingsError

MODULE = """
import numpy as np
from dissensus.scores import MatrixScore

class Spread(MatrixScore):
    name, description = "spread", "how far the draws are apart"
    function = staticmethod(lambda matrix: np.ptp(matrix, axis=0))
"""
NAME = "scores_of_an_operator:Spread"


@pytest.fixture
def gates(tmp_path, monkeypatch, folder):
    """A gate with a score of its own beside one without."""
    (tmp_path / "scores_of_an_operator.py").write_text(MODULE, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "scores_of_an_operator", raising=False)
    from scores_of_an_operator import Spread

    root = tmp_path / "gates"
    shutil.copytree(folder / "rows", root / "rows")
    rows = np.random.default_rng(0).normal(size=(100, 3))
    settings = {"epochs": 2, "draws": 2, "samples": 2, "false_alarm_rate": 0.2, "device": "cpu"}
    gate = BayesianVAE(**settings, widths=(4,), latent_size=1, statistic=Spread()).fit(rows)
    gate.save(root / "own")
    return root, gate


def test_it_answers_as_the_library_does(gates, serving, numbers):
    root, gate = gates
    with serving(root, scores=(NAME,)) as running:
        assert running.service.gates.find("own").loaded.facts["statistic"] == "spread"
        for name, library in (("own", gate), ("rows", BayesianVAE.load(root / "rows", device="cpu"))):
            answer = running.client.post(f"/score?gate={name}", json={"rows": numbers[:5].tolist()})
            assert answer.status_code == 200, answer.text
            found = [result["score"] for result in answer.json()["results"]]
            np.testing.assert_allclose(found, library.decide(numbers[:5]).score, rtol=1e-9)


def test_without_its_class_the_others_are_served(gates, serving):
    root, _ = gates
    with serving(root) as running:
        assert running.service.gates.names == ["rows"]
        assert f"--score {NAME}" in running.service.gates.problems["own"]
    shutil.rmtree(root / "rows")
    with pytest.raises(ArtifactError, match=f"its score is {NAME}"), serving(root):
        pass


def test_a_class_that_is_not_there_stops_the_start(gates, serving):
    said = "--score nowhere_at_all:Spread: there is no module"
    with pytest.raises(SettingsError, match=said), serving(gates[0], scores=("nowhere_at_all:Spread",)):
        pass
