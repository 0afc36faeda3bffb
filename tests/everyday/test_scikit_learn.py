"""What a scikit-learn user writes first: the page's own code, and how things look when they are printed."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from dissensus import Detector
from tests.cli.conftest import stripes
from tests.everyday.conftest import TINY, penguins

PAGE = Path(__file__).parents[2] / "docs" / "scikit-learn.md"


@pytest.fixture(scope="module")
def gate():
    pandas = pytest.importorskip("pandas")
    return Detector(**TINY).fit(pandas.DataFrame(penguins(240)))


@pytest.fixture(scope="module")
def strange():
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(penguins(1, seed=1)).assign(island="Mars", body_mass_g=9900.0)


def test_the_page_does_what_it_says(monkeypatch):
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL))
    # The same with as little work as gives an answer.
    code = code.replace("epochs=5", "epochs=1, draws=2").replace('"step_size": [0.01, 0.02], ', "")
    names = {}
    exec(compile(code.replace('"draws": [2]', '"epochs": [1, 2]'), str(PAGE), "exec"), names)
    assert names["gate"].feature_names_in_.tolist() == ["mass", "length", "island"]
    made = names["pipeline"]["gate"].feature_names_in_.tolist()
    assert made == ["mass", "length", "island_Biscoe", "island_Dream"]
    assert set(names["search"].best_params_) == {"epochs"}
    assert "mass" in str(names["explanation"])


def test_an_explanation_is_printed_as_sentences(gate, strange):
    [explanation] = gate.explain(strange)
    said = str(explanation)
    assert said.startswith("Flagged: about 1 in ")
    assert "No training input had this: island: Mars, never seen." in said
    assert re.search(r"^  island = Mars, never seen  ", said, re.MULTILINE)
    assert "What is unusual: " in said
    assert "array(" not in said
    assert said in repr(explanation)
    assert len(said) < 1500


def test_an_explanation_draws_itself(gate, strange):
    pytest.importorskip("matplotlib")
    [axes] = gate.explain(strange)[0].plot().axes
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert "island = Mars, never seen" in labels
    assert len(labels) == 7


def test_a_picture_is_drawn_beside_its_like(picture_gate):
    pytest.importorskip("matplotlib")
    own = Detector.load(picture_gate, device="cpu")
    explanation = own.explain(stripes(1)[0])
    titles = [axes.get_title() for axes in explanation.plot().axes]
    assert titles == ["the input", "where draws disagree", *["nearest in training"] * 3]
    assert "the pixels at row " in str(explanation)


def test_rows_without_names_are_printed_too():
    rows = np.random.default_rng(0).normal(size=(140, 3))
    own = Detector(**TINY).fit(rows)
    explanation = own.explain(np.array([9.0, 9.0, -9.0]))
    assert "column 2 = -9" in str(explanation)
    explanation.plot()


def test_a_notebook_shows_what_was_learnt(gate):
    html = gate._repr_html_()
    assert "Detector, fitted" in html
    assert "rows of 7 columns: species, island" in html
    assert gate._repr_mimebundle_()["text/html"].startswith("<table>")
    unfitted = clone(gate)
    assert "fitted</caption>" not in unfitted._repr_html_()
    assert "gate" in make_pipeline(gate)._repr_html_() or "Detector" in make_pipeline(gate)._repr_html_()
    with config_context(display="text"):
        assert not hasattr(gate, "_repr_html_")
        assert set(gate._repr_mimebundle_()) == {"text/plain"}


def test_names_of_columns_are_only_text():
    pandas = pytest.importorskip("pandas")
    table = penguins(140)
    table["<script>"] = table.pop("island")
    html = Detector(**TINY).fit(pandas.DataFrame(table))._repr_html_()
    assert "&lt;script&gt;" in html
