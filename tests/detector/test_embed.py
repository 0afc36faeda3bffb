"""Detectors that embed their inputs first, from the fit to the loaded gate."""

import base64
import json

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image
from sklearn.base import clone

from dissensus import BayesianVAE, Detector
from dissensus.errors import ArtifactError, DataError, SettingsError
from dissensus.inspection import assess
from dissensus.report import gate_page
from tests.contracts.own_embedders import Net, Projection, halves, letters

HERE = "tests.contracts.own_embedders"
RANDOM = np.random.default_rng(0)
TEXTS = ["".join(RANDOM.choice([*"ab c"], RANDOM.integers(3, 20))) for _ in range(80)]
STRANGE = "a" * 200


@pytest.fixture(scope="module")
def squares():
    return np.random.default_rng(2).integers(0, 256, (80, 8, 8), dtype=np.uint8)


@pytest.fixture(scope="module")
def things(rows, squares):
    """Inputs of every kind, and an embedder for each."""
    return {
        "pictures": (squares, Net()),
        "rows": (rows, Projection(3)),
        "texts": (TEXTS, letters),
        "table": (pd.DataFrame({"text": TEXTS, "unused": 1.5}), letters),
    }


@pytest.fixture(scope="module")
def gates(quick, things):
    return {kind: quick(embed=embed).fit(X) for kind, (X, embed) in things.items()}


KINDS = ("pictures", "rows", "texts", "table")


@pytest.mark.parametrize("kind", KINDS)
def test_all_the_way(kind, gates, things, tmp_path):
    gate, (X, embed) = gates[kind], things[kind]
    scores = gate.decide(X).score
    assert np.isfinite(scores).all()
    assert len(set(scores)) > 40
    for n in (0, 5):  # the same bits alone
        assert gate.decide(X[n : n + 1]).score.tolist() == [scores[n]]
    assert [row.score for row in gate.decide_stream(X)] == scores.tolist()

    gate.save(tmp_path / "gate")
    for kind_of_gate in (BayesianVAE, Detector):
        again = kind_of_gate.load(tmp_path / "gate", embed=embed, device="cpu")
        np.testing.assert_array_equal(again.decide(X).score, scores)
        np.testing.assert_array_equal(again.p_values(X), gate.p_values(X))
    refitted = clone(again).fit(X)
    np.testing.assert_array_equal(refitted.decide(X).score, scores)
    with pytest.raises(ArtifactError, match=r"its embedder is .*: pass it again"):
        Detector.load(tmp_path / "gate")


@pytest.mark.parametrize("kind", KINDS)
def test_explanations_are_of_the_components(kind, gates, things):
    gate, (X, embed) = gates[kind], things[kind]
    first = gate.explain(X[:2])[0]
    width = 4 if kind == "pictures" else 3
    assert first.disagreement.shape == first.input.shape == (width,)
    assert first.neighbours.shape == (5, width)
    assert first.reconstructions.shape == (4, width)
    assert not first.pictured
    assert first.to_dict()["disagreement"][0]["column"].startswith("component ")
    if kind == "texts":
        projected = gate.preprocessor_.components(np.array(embed(X[:1]), np.float64))[0]
        np.testing.assert_allclose(first.input, projected, rtol=1e-5)
    if kind == "pictures":
        assert gate.explain(X[0]).decision == first.decision
        page = gate_page(assess(gate, X[:20], shown=2))
        assert "component 0" in page
        assert "The columns that the score is due to come first" in page


def test_the_embedder_is_asked_once_for_each_training_input(quick, rows):
    counted = []

    class Counting(Projection):
        def __call__(self, batch):
            counted.append(len(batch))
            return super().__call__(batch)

    Counting.__qualname__ = "Counting"
    gate = quick(embed=Counting(3)).fit(rows)
    assert sum(counted) == len(rows)
    gate.explain(rows[:3])
    assert sum(counted) == len(rows) + 3


def test_what_is_written(gates, tmp_path):
    gates["pictures"].save(tmp_path / "gate")
    config = json.loads((tmp_path / "gate/config.json").read_text("utf-8"))["detector"]
    assert config["embedder"]["embedder"] == f"{HERE}:Net"
    assert len(config["embedder"]["sha256"]) == 64
    assert config["input"]["shape"] == [8, 8, 1]
    assert config["preprocessing"][0] == {"step": "embed", "by": f"{HERE}:Net"}
    assert "embed" not in config["settings"]
    assert 'load("path/to/this/folder", embed=…)' in (tmp_path / "gate/README.md").read_text("utf-8")
    gates["table"].save(tmp_path / "table")
    config = json.loads((tmp_path / "table/config.json").read_text("utf-8"))["detector"]
    assert config["table"] == {"id_column": None, "names": ["text", "unused"]}
    card = (tmp_path / "table/README.md").read_text("utf-8")
    assert f"from {HERE} import letters  # the embedder's own code" in card
    assert "embed=letters)" in card


def test_gates_without_one_say_nothing_of_it(row_gate, tmp_path):
    row_gate.save(tmp_path / "gate")
    written = (tmp_path / "gate/config.json").read_text("utf-8")
    assert "embed" not in written


def test_other_weights_are_refused(gates, tmp_path):
    gates["pictures"].save(tmp_path / "gate")
    with pytest.raises(ArtifactError, match="pass the weights it was fitted with"):
        Detector.load(tmp_path / "gate", embed=Net(1))
    with pytest.raises(ArtifactError, match=f"an object of {HERE}:Net: .*what was passed is {HERE}:halves"):
        Detector.load(tmp_path / "gate", embed=halves)


def test_training_that_goes_on_changes_no_gate(quick, squares, tmp_path):
    own = Net()
    gate = quick(embed=own).fit(squares)
    before = gate.decide(squares).score
    with torch.no_grad():
        own.weight.mul_(2)
    np.testing.assert_array_equal(gate.decide(squares).score, before)
    gate.save(tmp_path / "gate")
    with pytest.raises(ArtifactError, match="SHA-256"):
        Detector.load(tmp_path / "gate", embed=own)


def test_what_is_strange_to_the_embedder_is_flagged(gates):
    assert gates["texts"].decide([STRANGE, *TEXTS]).score.argmax() == 0
    assert gates["texts"].decide([STRANGE]).flagged.all()


def test_what_could_not_be_loaded_back_is_refused_before_the_fit(quick, squares):
    gate = quick(embed=lambda batch: batch)
    with pytest.raises(SettingsError, match="a lambda has no name"):
        gate.fit(squares)


def with_gaps(batch):
    """Numbers, but for what is dark."""
    return np.where(batch.mean((1, 2, 3))[:, None] < 1, np.nan, batch.reshape(len(batch), -1)[:, :3] / 1.0)


def test_an_embedding_that_is_no_number(quick, squares):
    dark = np.zeros((1, 8, 8), np.uint8)
    with pytest.raises(DataError, match="NaN or infinite values for 1 of 81 inputs, first for input 80"):
        quick(embed=with_gaps).fit(np.concatenate([squares, dark]))
    gate = quick(embed=with_gaps).fit(squares)
    assert gate.decide(np.concatenate([dark, squares])).score.argmax() == 0  # and all others are answered


@pytest.mark.parametrize(
    ("kind", "X", "said"),
    [
        ("pictures", np.zeros((2, 5)), "takes images"),
        ("pictures", TEXTS, "images|numeric|dtype|shape"),
        ("rows", np.zeros((2, 9)), "9 features"),
        ("texts", np.zeros((2, 9)), "takes a list of what its embedder reads"),
        ("texts", ["a", None], "holds None, first at 1"),
        ("table", ["a", "b"], "takes rows of the named columns text, unused"),
        ("table", pd.DataFrame({"text": TEXTS}), "unused"),
    ],
)
def test_inputs_of_another_kind_are_refused(gates, kind, X, said):
    with pytest.raises(DataError, match=said):
        gates[kind].decide(X)


def test_a_list_of_anything_has_no_file(gates, tmp_path):
    (tmp_path / "a.csv").write_text("text\nab\n", "utf-8")
    with pytest.raises(DataError, match="no file holds one: give it a list in Python, or fit it on a table"):
        gates["texts"].decide(tmp_path / "a.csv")


def test_pictures_are_the_same_by_every_way_in(gates, squares, tmp_path):
    gate, some = gates["pictures"], squares[:9]
    expected = gate.decide(some).score.tolist()
    np.save(tmp_path / "some.npy", some)
    (tmp_path / "folder").mkdir()
    lines = []
    for number, pixels in enumerate(some):
        Image.fromarray(pixels).save(tmp_path / f"folder/{number}.png")
        image = base64.b64encode((tmp_path / f"folder/{number}.png").read_bytes()).decode()
        lines += [json.dumps({"image": image} if number % 2 else {"values": pixels.tolist()})]
    (tmp_path / "some.jsonl").write_text("\n".join(lines), "utf-8")
    for way in (tmp_path / "some.npy", tmp_path / "folder", tmp_path / "some.jsonl", some / 255):
        assert gate.decide(way).score.tolist() == expected


def test_a_table_is_the_same_in_a_file(gates, tmp_path):
    frame = pd.DataFrame({"unused": 1.5, "text": TEXTS})
    frame.to_csv(tmp_path / "a.csv", index=False)
    lines = [json.dumps({"text": text, "unused": 1.5}) for text in TEXTS]
    (tmp_path / "a.jsonl").write_text("\n".join(lines), "utf-8")
    expected = gates["table"].decide(frame).score
    np.testing.assert_array_equal(gates["table"].decide(tmp_path / "a.csv").score, expected)
    np.testing.assert_array_equal(gates["table"].decide(tmp_path / "a.jsonl").score, expected)


def test_a_function_of_a_script_may_have_moved_to_a_module(quick, squares, tmp_path, monkeypatch):
    with monkeypatch.context() as script:
        script.setattr(halves, "__module__", "__main__")
        gate = quick(embed=halves).fit(squares)
        gate.save(tmp_path / "gate")
    with pytest.raises(ArtifactError, match=r"--embed MODULE:halves on the command line"):
        Detector.load(tmp_path / "gate")
    again = Detector.load(tmp_path / "gate", embed=halves, device="cpu")
    np.testing.assert_array_equal(again.decide(squares).score, gate.decide(squares).score)
