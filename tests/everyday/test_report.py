"""The report as a person reads it who has never heard of nats."""

import json
import re
from datetime import datetime

import numpy as np
import pytest

from dissensus import Detector
from dissensus._version import __version__
from dissensus.inputs import Table, TableEncoder
from dissensus.inspection import assess
from dissensus.inspection.column_shifts import MOST_ROWS, RowSample, column_shifts
from dissensus.report import gate_page, gate_summary
from tests.everyday.conftest import penguins, text_of


@pytest.fixture(scope="module")
def martians():
    """Penguins of whom a third come from elsewhere, and are heavier than any."""
    table = penguins(120, seed=3)
    for row in range(0, 120, 3):
        table["island"][row] = "Mars"
        table["body_mass_g"][row] = 9900
    return table


@pytest.fixture(scope="module")
def pages(penguin_gate, martians, tmp_path_factory, dissensus):
    """The page and its record, of the command line."""
    folder = tmp_path_factory.mktemp("report")
    (folder / "new.csv").write_text(text_of(martians))
    answer = dissensus("report", penguin_gate, folder / "new.csv", "-o", folder / "page.html", "--shown", 3)
    assert answer.code == 0, answer.err
    return (folder / "page.html").read_text(), json.loads((folder / "page.json").read_text())


def text_in(page):
    return " ".join(re.sub(r"<style>.*?</style>|<svg.*?</svg>|<[^>]+>", " ", page, flags=re.DOTALL).split())


def test_it_says_when_and_of_what(pages, penguin_gate):
    page, record = pages
    assert f"asked of {penguin_gate}, " in page
    assert f"by dissensus {__version__}" in page
    made = datetime.fromisoformat(record["made"])
    assert f"{made:%-d %B %Y, %H:%M} UTC" in page
    assert (record["gate"], record["version"]) == (str(penguin_gate), __version__)


def test_every_flagged_input_is_listed(pages):
    page, record = pages
    assert record["flagged"] == len(record["flagged_inputs"]) > 10
    listed = page.split("All that was flagged")[1].split("<h2>")[0]
    for found in record["flagged_inputs"]:
        assert f">row {found['input']}<" in listed
    assert "island: Mars, never seen" in listed


def test_categories_are_categories(pages):
    page, record = pages
    cards = text_in(page.split("The most unusual inputs")[1])
    assert "island Mars, never seen" in cards
    assert "body_mass_g 9900" in cards
    assert "is unseen" not in cards
    assert "island=" not in cards
    cells = record["most_unusual"][0]["cells"]
    assert {cell["column"] for cell in cells} == set(penguins(1))


def test_the_column_that_is_absurd_comes_first(penguin_gate):
    """By how far the draws are apart, the sex of a penguin of forty kilograms came first."""
    table = penguins(24, seed=3)
    odd = ["body_mass_g", "island", "flipper_length_mm", "bill_length_mm"] * 6
    absurd = {"body_mass_g": 37500, "island": "Mars", "flipper_length_mm": 20, "bill_length_mm": 90}
    for row, name in enumerate(odd):
        table[name][row] = absurd[name]
    gate = Detector.load(penguin_gate, device="cpu")
    found = gate.explain(pytest.importorskip("pandas").DataFrame(table))
    assert np.mean([e.cells[0].column == name for e, name in zip(found, odd, strict=True)]) >= 0.95


def test_people_first_and_nats_behind_a_fold(pages):
    page, _ = pages
    card = page.split("<article", 1)[1].split("</article>")[0]
    shown, folded = card.split("<details>", 1)
    assert "What is unusual: " in shown
    assert "nats" not in text_in(shown)
    assert "nats" in folded


def test_columns_that_moved(pages):
    page, record = pages
    moved = {shift["column"] for shift in record["columns"] if shift["moved"]}
    assert moved == {"island", "body_mass_g"}
    [island] = [shift for shift in record["columns"] if shift["column"] == "island"]
    assert "Mars" in island["now"] or "one never seen 33%" in island["now"]
    assert 0.25 < island["distance"] < 0.45
    assert "2 of 7 columns have moved since training" in page
    assert record["training_rows"] > 100


def test_drift_is_said_once(penguin_gate, martians):
    """Not that it is certain, and that there is too little to tell, on one page."""
    gate = Detector.load(penguin_gate, device="cpu")
    mars = {name: values[::3][:15] for name, values in martians.items()}
    found = assess(gate, Table(mars, range(15)), shown=0)
    assert found.drift_alarm is not None
    said = " ".join(gate_summary(found))
    page = gate_page(found)
    assert "Too few inputs to look for drift" in said
    assert "Drift: by input" not in page
    assert found.to_dict()["drift"]["alarm_at"] is None


def test_what_passes_may_have_changed_as_a_whole(penguin_gate):
    """A green page must not hide that a column has moved."""
    gate = Detector.load(penguin_gate, device="cpu")
    table = penguins(80, seed=4)
    found = assess(gate, Table(table, range(80)), shown=0)
    assert "But as a whole" not in gate_page(found)
    found = assess(gate, Table({**table, "sex": ["female"] * 80}, range(80)), shown=0)
    assert found.passed()
    verdict = text_in(gate_page(found)).split("In words")[0]
    assert "Passed : as few are flagged as chance allows. But as a whole" in verdict
    assert "1 of 7 columns moved" in verdict


def test_thousands_of_flagged_inputs_are_in_pages(penguin_gate, martians):
    gate = Detector.load(penguin_gate, device="cpu")
    many = {name: (values[::3] * 60)[:2100] for name, values in martians.items()}
    found = assess(gate, Table(many, range(2100)), shown=0)
    page = gate_page(found, record="page.json")
    assert len(found.flagged_inputs) == 2100
    assert "1 to 100 of 2,100" in page
    assert '100 more are listed in\n<a href="page.json">' in page
    assert page.count("<tr>") > 2000


def test_columns_like_the_training_rows_have_not_moved():
    """Of a hundred tables like the training data about one has a column that moved."""
    told = 0
    for seed in range(60):
        table = Table(penguins(400, seed=100 + seed), range(400))
        encoder = TableEncoder.fit(table)
        rows, _ = encoder.transform(table)
        told += any(shift.moved for shift in column_shifts(encoder.parts, rows[:200], rows[200:]))
    assert told <= 4  # more happen with a probability of .0004


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("body_mass_g", lambda values: [None if n % 2 else v for n, v in enumerate(values)]),
        ("sex", lambda values: ["female"] * len(values)),
        ("date", lambda values: ["2015-01-03"] * len(values)),
        ("flipper_length_mm", lambda values: [v + 12 for v in values]),
    ],
)
def test_what_moves_is_found(name, change):
    table = penguins(300, seed=5)
    encoder = TableEncoder.fit(Table(table, range(300)))
    before, _ = encoder.transform(Table(table, range(300)))
    now, _ = encoder.transform(Table({**table, name: change(table[name])}, range(300)))
    found = column_shifts(encoder.parts, before, now)
    assert [shift.column for shift in found if shift.moved] == [name]
    assert found[0].before != found[0].now


def test_a_sample_of_rows_is_any_of_them():
    sample = RowSample(0)
    for start in range(0, 4 * MOST_ROWS, 1000):
        sample.add(np.arange(start, start + 1000, dtype=float)[:, None])
    assert len(sample.rows) == MOST_ROWS
    assert abs(sample.rows.mean() / (2 * MOST_ROWS) - 1) < 0.05
