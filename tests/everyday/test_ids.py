"""Columns that say where a row stands, not what it is: row numbers, indices, ids."""

import warnings
from datetime import datetime, timedelta

import numpy as np
import pytest

from dissensus import Detector
from dissensus.errors import DataError, InputWarning
from dissensus.inputs import Table, TableStream, fit_preprocessor, stored_tables
from tests.everyday.conftest import TINY, penguins, rows_of, text_of

SMALL = ["--epochs", "3", "--draws", "2"]


def indexed(count, seed=0, start=0, name=""):
    return {name: list(range(start, start + count)), **penguins(count, seed)}


def columns_learnt(table):
    """The columns that a fit learns from, and what it warns of."""
    count = len(next(iter(table.values())))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        preprocessor, _ = fit_preprocessor(Table(table, range(count)), np.arange(count))
    return preprocessor.feature_names, [str(warning.message) for warning in caught]


def test_the_unnamed_index_of_to_csv_names_the_rows(dissensus, tmp_path):
    (tmp_path / "train.csv").write_text(text_of(indexed(240)))
    answer = dissensus("fit", tmp_path / "train.csv", "-o", tmp_path / "gate", *SMALL)
    assert answer.code == 0, answer.err
    assert "first column has no name, as an index has" in answer.err
    assert dissensus("inspect", tmp_path / "gate", "--json").json["columns"] == list(penguins(1))
    (tmp_path / "later.csv").write_text(text_of(indexed(30, 1, 240)))
    (tmp_path / "plain.csv").write_text(text_of(penguins(30, 1)))
    later, plain = (rows_of(dissensus("score", tmp_path / "gate", tmp_path / name).out)
                    for name in ("later.csv", "plain.csv"))  # fmt: skip
    assert [row["input"] for row in later] == [str(number) for number in range(240, 270)]
    assert [row["score"] for row in later] == [row["score"] for row in plain]


@pytest.mark.parametrize(("name", "start"), [("rowid", 1), ("Unnamed: 0", 0), ("nr", 1000)])
@pytest.mark.parametrize("order", ["as they come", "shuffled"])
def test_row_numbers_are_left_out_and_named(name, start, order):
    table = indexed(240, start=start, name=name)
    if order == "shuffled":
        table[name] = np.random.default_rng(0).permutation(table[name]).tolist()
    columns, said = columns_learnt(table)
    assert columns == tuple(penguins(1))
    assert any(f"column {name!r} numbers the rows" in sentence for sentence in said)


def test_row_numbers_of_a_part_of_the_rows():
    rng = np.random.default_rng(0)
    table = {"rowid": np.sort(rng.permutation(300)[:240]).tolist(), **penguins(240)}
    assert "rowid" not in columns_learnt(table)[0]


def test_row_numbers_of_runs_of_the_rows():
    numbers = [number + 10**6 * (number // 60) for number in range(240)]
    assert "rowid" not in columns_learnt({"rowid": numbers, **penguins(240)})[0]


@pytest.mark.parametrize("memory", [None, "64 GB"])
@pytest.mark.parametrize("name", ["", "rowid"])
def test_rows_are_not_learnt_by_their_number_however_they_are_read(dissensus, tmp_path, name, memory):
    (tmp_path / "train.csv").write_text(text_of(indexed(240, name=name)))
    more = [] if memory is None else ["--memory", memory]
    answer = dissensus("fit", tmp_path / "train.csv", "-o", tmp_path / "gate", *SMALL, *more)
    assert answer.code == 0, answer.err
    said = "numbers the rows" if name else "first column has no name"
    assert answer.err.count(said) == 1
    assert dissensus("inspect", tmp_path / "gate", "--json").json["columns"] == list(penguins(1))


def test_row_numbers_of_more_rows_than_are_looked_at(tmp_path, monkeypatch):
    monkeypatch.setattr(stored_tables, "SAMPLE", 700)
    rng = np.random.default_rng(0)
    table = Table({"rowid": np.arange(9000), "x": rng.normal(size=9000)}, range(9000))
    with pytest.warns(InputWarning, match="'rowid' numbers the rows"):
        _, encoder = stored_tables.store_table(TableStream(table), tmp_path, most=10**9, stacklevel=1)
    assert encoder.names == ("x",)


def test_a_warning_says_whose_call_it_is_about():
    frame = pytest.importorskip("pandas").DataFrame(indexed(240, name="rowid"))
    for memory in (None, "64 GB"):
        with pytest.warns(InputWarning, match="numbers the rows") as caught:
            Detector(**TINY).fit(frame, memory=memory)
        assert [warning.filename for warning in caught] == [__file__] * len(caught)


@pytest.mark.parametrize("memory", [None, "64 GB"])
def test_later_rows_are_flagged_as_seldom_as_asked(memory):
    """With the row number among the columns nine of ten are."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    columns = {"rowid": np.arange(1600), **{name: rng.normal(size=1600) for name in "abc"}}
    frame = pandas.DataFrame(columns)
    with pytest.warns(InputWarning, match="'rowid' numbers the rows"):
        gate = Detector(**TINY, false_alarm_rate=0.05).fit(frame[:800], memory=memory)
    flagged = int(gate.decide(frame[800:]).flagged.sum())
    assert len(gate.calibration_scores_) == 120
    # Of 800, at a rate that 120 calibration inputs settle to about 0.05 ± 0.02: 40 ± 18.
    assert flagged < 96


def test_a_frame_with_a_row_number(tmp_path):
    pandas = pytest.importorskip("pandas")
    (tmp_path / "penguins.csv").write_text(text_of(indexed(240)))
    frame = pandas.read_csv(tmp_path / "penguins.csv")
    with pytest.warns(InputWarning, match="'Unnamed: 0' numbers the rows"):
        gate = Detector(**TINY).fit(frame)
    assert gate.feature_names_in_.tolist() == list(penguins(1))
    later = frame.assign(**{"Unnamed: 0": np.arange(240) + 10**6})
    np.testing.assert_array_equal(gate.score_samples(frame), gate.score_samples(later))


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("customer_id", lambda rng: rng.integers(10**6, 10**9, 240)),
        ("orderID", lambda rng: rng.integers(10**6, 10**9, 240)),
        ("account", lambda rng: np.sort(rng.integers(10**6, 10**9, 240))),
    ],
)
def test_what_may_be_ids_is_named_and_learnt_from(name, numbers):
    table = {name: numbers(np.random.default_rng(0)).tolist(), **penguins(240)}
    columns, said = columns_learnt(table)
    assert name in columns
    assert any(
        f"column {name!r} may be an id" in sentence and f"--id {name}" in sentence for sentence in said
    )


def days(count, step):
    """A date a row: the days of a clock that goes on by so many hours from row to row."""
    start = datetime(2026, 3, 1)
    return [(start + timedelta(hours=step * row)).isoformat(" ") for row in range(count)]


@pytest.mark.parametrize("order", [1, -1], ids=["oldest first", "newest first"])
def test_times_of_recording_are_named_with_what_they_lead_to(order):
    columns, said = columns_learnt({"time": days(240, 1)[::order], **penguins(240)})
    assert any(name.startswith("time") for name in columns)
    [sentence] = [sentence for sentence in said if "'time'" in sentence]
    assert "months that training did not have" in sentence
    assert "--drop time" in sentence
    assert "--id time" in sentence


def test_one_and_the_same_date_is_no_time_of_recording():
    assert not any(
        "'day'" in sentence for sentence in columns_learnt({"day": days(240, 0), **penguins(240)})[1]
    )


def test_dates_in_no_order_are_not_times_of_recording():
    born = np.random.default_rng(0).permutation(days(240, 200)).tolist()
    assert not any("born" in sentence for sentence in columns_learnt({"born": born, **penguins(240)})[1])


@pytest.mark.parametrize(
    "numbers",
    [
        lambda rng: rng.integers(10**6, 10**9, 240),  # inhabitants, in no order
        lambda rng: rng.normal(size=240).cumsum(),
        lambda rng: np.sort(rng.normal(size=240)),
        lambda rng: rng.integers(0, 400, 240),
        lambda rng: np.sort(rng.integers(0, 80, 240)),
    ],
)
def test_measured_numbers_are_no_ids(numbers):
    table = {"inhabitants": numbers(np.random.default_rng(0)).tolist(), **penguins(240)}
    columns, said = columns_learnt(table)
    assert ("inhabitants" in columns, said) == (True, [])


def test_a_name_that_ends_like_one_is_none():
    numbers = np.random.default_rng(0).integers(10**6, 10**9, 240).tolist()
    assert columns_learnt({"paid": numbers, **penguins(240)})[1] == []


def test_numbers_in_text_are_numbers():
    table = {name: list(map(str, values)) for name, values in indexed(60, name="row").items()}
    assert "row" not in columns_learnt(table)[0]


def test_names_of_which_none_comes_twice_are_refused():
    table = {"car": [f"Model {number}" for number in range(32)], **penguins(32)}
    with pytest.raises(DataError, match="'car' holds 32 different texts"):
        columns_learnt(table)


def test_a_table_of_ids_alone_is_refused():
    with pytest.raises(DataError, match="no column besides"):
        columns_learnt({"id": list(range(50))})
