"""Gates that embed their inputs are served where the operator names their embedders."""

import importlib
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dissensus import BayesianVAE
from dissensus.errors import SettingsError

EMBEDDERS = Path(__file__).parents[1] / "contracts/own_embedders.py"
QUICK = {
    "epochs": 2,
    "draws": 2,
    "samples": 2,
    "widths": (4,),
    "latent_size": 1,
    "false_alarm_rate": 0.2,
    "device": "cpu",
}
NAMES = tuple(f"embedders_of_an_operator:{name}" for name in ("net", "Projection", "letters"))
TEXTS = ["ab" * n + "c" * (n % 7) for n in range(1, 61)]


@pytest.fixture
def gates(tmp_path, monkeypatch, pictures, numbers):
    """Gates of pictures, rows, a table and a list; the folder, and the gates by name."""
    shutil.copy(EMBEDDERS, tmp_path / "embedders_of_an_operator.py")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "embedders_of_an_operator", raising=False)
    own = importlib.import_module("embedders_of_an_operator")
    made = {
        "pictures": BayesianVAE(embed=own.net, **QUICK).fit(pictures),
        "rows": BayesianVAE(embed=own.Projection(2), **QUICK).fit(numbers),
        "table": BayesianVAE(embed=own.letters, **QUICK).fit(pd.DataFrame({"text": TEXTS})),
        "texts": BayesianVAE(embed=own.letters, **QUICK).fit(TEXTS),
    }
    for name, gate in made.items():
        gate.save(tmp_path / "gates" / name)
    return tmp_path / "gates", made


def test_they_answer_as_the_library_does(gates, serving, numbers, pictures, as_png):
    root, made = gates
    with serving(root, embedders=NAMES) as running:

        def scores(answer):
            assert answer.status_code == 200, answer.text
            return [result["score"] for result in answer.json()["results"]]

        def rows(name, some):
            return running.client.post(f"/score?gate={name}", json={"rows": some})

        def close(found, expected):
            np.testing.assert_allclose(found, expected, rtol=1e-9)

        uploads = [as_png(picture) for picture in pictures[:3]]
        close(scores(running.score(uploads, gate="pictures")), made["pictures"].decide(pictures[:3]).score)
        close(scores(rows("rows", numbers[:5].tolist())), made["rows"].decide(numbers[:5]).score)
        expected = made["table"].decide(pd.DataFrame({"text": TEXTS[:3]})).score
        close(scores(rows("table", [{"text": text} for text in TEXTS[:3]])), expected)

        facts = running.client.get("/gate?gate=pictures").json()
        assert (facts["kind"], facts["input_shape"]) == ("images", [8, 8, 1])
        by = {"step": "embed", "by": "embedders_of_an_operator:Net"}
        assert facts["fitted_on"]["preprocessing"][0] == by
        answer = running.client.post("/explain?gate=pictures", files={"files": ("a.png", uploads[0])})
        assert answer.status_code == 200, answer.text
        assert answer.json()["columns"][0]["column"].startswith("component ")
        assert answer.json()["disagreement"]["png"] is None

        tensor = {"name": "images", "shape": [2, 8, 8, 1], "datatype": "UINT8"}
        body = {"inputs": [tensor | {"data": pictures[:2].ravel().tolist()}]}
        answer = running.client.post("/v2/models/pictures/infer", json=body)
        assert answer.status_code == 200, answer.text
        close(answer.json()["outputs"][0]["data"], made["pictures"].decide(pictures[:2]).score)
        body = {"inputs": [{"name": "text", "shape": [3], "datatype": "BYTES", "data": TEXTS[:3]}]}
        answer = running.client.post("/v2/models/table/infer", json=body)
        assert answer.status_code == 200, answer.text
        close(answer.json()["outputs"][0]["data"], expected)

        assert list(running.service.gates.problems) == ["texts"]
        assert "its inputs cannot be sent in a request" in running.service.gates.problems["texts"]


def test_without_their_embedders_the_others_are_served(gates, serving):
    root, _ = gates
    with serving(root, embedders=NAMES[1:2]) as running:
        assert running.service.gates.names == ["rows"]
        said = running.service.gates.problems["pictures"]
        assert "its embedder is an object of embedders_of_an_operator:Net" in said
        assert "--embed MODULE:NAME" in said
        assert "--embed embedders_of_an_operator:letters" in running.service.gates.problems["table"]


def test_an_embedder_that_is_not_there_stops_the_start(gates, serving):
    said = "--embed nowhere_at_all:own: there is no module"
    with pytest.raises(SettingsError, match=said), serving(gates[0], embedders=("nowhere_at_all:own",)):
        pass
