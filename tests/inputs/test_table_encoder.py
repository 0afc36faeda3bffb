import json
import math
from datetime import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.errors import DataError
from dissensus.inputs import Table, TableEncoder
from dissensus.inputs.columns import Remarks


def table(**columns):
    return Table(columns, range(len(next(iter(columns.values())))))


def test_numbers_stay_as_they_are():
    numbers = table(x=["1", "-2.5e3", " 7 "], y=[1, 2.5, 3])
    rows, remarks = TableEncoder.fit(numbers).transform(numbers)
    np.testing.assert_array_equal(rows, [[1, 1], [-2500, 2.5], [7, 3]])
    assert remarks == Remarks()


@pytest.mark.parametrize("nothing", ["", "NA", "nan", "N/A", "Null", "None", "?", None, math.nan])
def test_missing_numbers_become_the_median_and_a_mark(nothing):
    encoder = TableEncoder.fit(table(x=["1", nothing, "5", "100"]))
    assert encoder.features == ["x", "x is missing"]
    rows, remarks = encoder.transform(table(x=[nothing, "2"]))
    np.testing.assert_array_equal(rows, [[5, 1], [2, 0]])
    assert remarks == Remarks()


def test_a_number_that_was_never_missing_is_not_a_number_and_is_said():
    rows, remarks = TableEncoder.fit(table(x=["1", "2"])).transform(table(x=["", "3"]))
    np.testing.assert_array_equal(rows, [[np.nan], [3]])
    assert remarks.problems == {}
    assert remarks.notes == {0: ["x: missing, never so in training"]}


@pytest.mark.parametrize("value", ["old", "inf", "-Infinity", "1_000", 10**400, math.inf, True])
def test_what_is_no_number_is_a_problem_of_its_row(value):
    for x in (["1", "2"], ["1", ""]):
        _, remarks = TableEncoder.fit(table(x=x)).transform(table(x=["1", value]))
        assert list(remarks.problems) == [1], value
        assert "column 'x'" in remarks.problems[1]["x"]


def test_categories_are_marked_and_the_unseen_visible():
    encoder = TableEncoder.fit(table(pet=["dog", "cat", "", "dog", "cat", None]))
    assert encoder.features == ["pet=", "pet=cat", "pet=dog", "pet is unseen"]
    rows, remarks = encoder.transform(table(pet=["cat", "eel", None, "dog"]))
    np.testing.assert_array_equal(rows, [[0, 1, 0, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 0, 1, 0]])
    assert remarks == Remarks(notes={1: ["pet: eel, never seen"]})


def test_truth_values_are_the_same_in_every_kind_of_file():
    from_parquet, from_csv = table(ok=[True, False]), table(ok=["True", "FALSE"])
    encoder = TableEncoder.fit(from_parquet)
    np.testing.assert_array_equal(encoder.transform(from_parquet)[0], encoder.transform(from_csv)[0])


def test_columns_are_found_by_name():
    encoder = TableEncoder.fit(table(a=["1", "2"], b=["3", "4"]))
    rows, _ = encoder.transform(table(new=["x"], b=["9"], a=["8"]))
    np.testing.assert_array_equal(rows, [[8, 9]])
    with pytest.raises(DataError, match="lacks the column 'b'"):
        encoder.transform(table(a=["1"]))
    with pytest.raises(DataError, match="lacks the columns 'a', 'b'"):
        encoder.transform(table(c=["1"]))


def test_what_cannot_be_learnt_is_named():
    with pytest.raises(DataError, match=r"'day' holds 51 different texts .* leave it out"):
        TableEncoder.fit(table(day=[f"day {n}" for n in range(51)]))
    with pytest.raises(DataError, match="'x' is empty in every row"):
        TableEncoder.fit(table(x=["", None]))
    with pytest.raises(DataError, match="'x' is infinite in row 2"):
        TableEncoder.fit(table(x=["1", "", "inf"]))
    with pytest.raises(DataError, match="no column"):
        TableEncoder.fit(Table({}, range(3)))


def test_all_columns_that_cannot_be_learnt_are_in_one_message():
    price = [str(10 + n) for n in range(40)]
    price[17] = "1,499"
    when = [f"2026-05-{1 + n % 28:02d}" for n in range(40)]
    when[3] = "soon"
    with pytest.raises(DataError) as error:
        TableEncoder.fit(table(price=price, empty=[None] * 40, fine=[1] * 40, when=when))
    assert str(error.value) == (
        "X has columns that cannot be learnt from: column 'price' holds numbers but for row 17: '1,499', "
        "column 'when' holds dates but for row 3: 'soon': repair these cells, or leave them out "
        "(--drop price --drop when); column 'empty' is empty in every row: leave it out (--drop empty)"
    )


def test_rare_categories_share_a_column():
    country = ["France"] * 150 + ["Peru"] * 47 + ["Chad", "Fiji", "Mali"]
    encoder = TableEncoder.fit(table(country=country))
    assert encoder.features == ["country=France", "country=Peru", "country is another", "country is unseen"]
    rows, remarks = encoder.transform(table(country=["Mali", "Chad", "Peru", "Mars", ""]))
    np.testing.assert_array_equal(
        rows, [[0, 0, 1, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 1]]
    )
    assert remarks.notes == {3: ["country: Mars, never seen"], 4: ["country: missing, never so in training"]}
    alone = TableEncoder.fit(table(country=country[:198]))
    assert alone.features == ["country=Chad", "country=France", "country=Peru", "country is unseen"]


def test_many_categories_are_no_reason_to_refuse_them_while_most_rows_have_a_common_one():
    streets = [f"street {n % 40}" for n in range(400)] + [f"lane {n}" for n in range(100)]
    encoder = TableEncoder.fit(table(street=streets))
    assert len(encoder.features) == 42
    assert len(encoder.columns[0].rare) == 100


DATES = ["2026-05-01", "2024-02-29T23:59", "1999-12-31 06:00:00", "2026-05-04T12:30:00.5+02:00"]
PARTS = [[2026, 5, 4, 0], [2024, 2, 3, 23], [1999, 12, 4, 6], [2026, 5, 0, 12]]


def test_dates_become_their_parts():
    encoder = TableEncoder.fit(table(when=DATES))
    assert encoder.features == ["when year", "when month", "when weekday", "when hour"]
    rows, remarks = encoder.transform(table(when=DATES))
    np.testing.assert_array_equal(rows, PARTS)
    assert remarks == Remarks()
    python = [datetime.fromisoformat(text) for text in DATES]
    np.testing.assert_array_equal(encoder.transform(table(when=[python[0].date(), *python[1:]]))[0], PARTS)
    rows, remarks = encoder.transform(table(when=["", "tomorrow", "2026-02-31"]))
    assert np.isnan(rows[0]).all()
    assert remarks.notes == {0: ["when: missing, never so in training"]}
    assert sorted(remarks.problems) == [1, 2]
    assert "holds 'tomorrow', which is no date" in remarks.problems[1]["when"]


def test_missing_dates_become_the_median_and_a_mark():
    encoder = TableEncoder.fit(table(when=[*DATES, None]))
    assert encoder.features[-1] == "when is missing"
    rows, remarks = encoder.transform(table(when=[None, DATES[0]]))
    np.testing.assert_array_equal(rows, [[2025, 5, 3.5, 9, 1], [2026, 5, 4, 0, 0]])
    assert remarks == Remarks()


def test_columns_of_numbers_may_be_arrays():
    texts, arrays = table(x=["1", "", "3"]), table(x=np.array([1, np.nan, 3]))
    encoder = TableEncoder.fit(arrays)
    assert encoder == TableEncoder.fit(texts)
    np.testing.assert_array_equal(encoder.transform(arrays)[0], encoder.transform(texts)[0])


values = st.one_of(
    st.none(),
    st.booleans(),
    st.floats(),
    st.integers(),
    st.text(max_size=3),
    st.sampled_from(["NA", "1", "2.5", "2026-05-01"]),
    st.datetimes(),
)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(
    columns=st.dictionaries(
        st.text(max_size=3).filter(lambda name: name != "id"),  # the column that is left out below
        st.lists(values, min_size=4, max_size=4),
        min_size=1,
        max_size=4,
    )
)
def test_whatever_is_learnt_scores_its_own_rows_and_survives_json(columns):
    known = Table(columns, range(4), id_column="id")
    try:
        encoder = TableEncoder.fit(known)
    except DataError:
        return
    rows, remarks = encoder.transform(known)
    assert remarks == Remarks()
    assert rows.shape == (4, len(encoder.features))
    assert np.isfinite(rows).all()
    again = TableEncoder.from_config(json.loads(json.dumps(encoder.to_config())))
    assert again == encoder


@settings(derandomize=True, deadline=None, max_examples=100)
@given(new=st.lists(st.tuples(values, values), min_size=1, max_size=6))
def test_every_row_is_finite_or_has_a_reason(new):
    encoder = TableEncoder.fit(table(x=["1", "", "2"], pet=["a", "b", "a"]))
    rows, remarks = encoder.transform(
        Table({"x": [x for x, _ in new], "pet": [p for _, p in new]}, range(len(new)))
    )
    assert all(np.isfinite(row).all() or number in remarks.problems for number, row in enumerate(rows))
