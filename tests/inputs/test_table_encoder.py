import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.errors import DataError
from dissensus.inputs import Table, TableEncoder


def table(**columns):
    return Table(columns, range(len(next(iter(columns.values())))))


def test_numbers_stay_as_they_are():
    numbers = table(x=["1", "-2.5e3", " 7 "], y=[1, 2.5, 3])
    rows, problems = TableEncoder.fit(numbers).transform(numbers)
    np.testing.assert_array_equal(rows, [[1, 1], [-2500, 2.5], [7, 3]])
    assert problems == {}


@pytest.mark.parametrize("nothing", ["", "NA", "nan", "N/A", "Null", "None", "?", None, math.nan])
def test_missing_numbers_become_the_median_and_a_mark(nothing):
    encoder = TableEncoder.fit(table(x=["1", nothing, "5", "100"]))
    assert encoder.features == ["x", "x is missing"]
    rows, problems = encoder.transform(table(x=[nothing, "2"]))
    np.testing.assert_array_equal(rows, [[5, 1], [2, 0]])
    assert problems == {}


def test_a_number_that_was_never_missing_must_not_be():
    rows, problems = TableEncoder.fit(table(x=["1", "2"])).transform(table(x=["", "3"]))
    assert rows.shape == (2, 1)
    assert problems == {0: "column 'x' is empty, which it never was in training"}


@pytest.mark.parametrize("value", ["old", "inf", "-Infinity", "1_000", 10**400, math.inf, True])
def test_what_is_no_number_is_a_problem_of_its_row(value):
    for x in (["1", "2"], ["1", ""]):
        _, problems = TableEncoder.fit(table(x=x)).transform(table(x=["1", value]))
        assert list(problems) == [1], value
        assert "column 'x'" in problems[1]


def test_categories_are_marked_and_the_unseen_visible():
    encoder = TableEncoder.fit(table(pet=["dog", "cat", "", "dog"]))
    assert encoder.features == ["pet=", "pet=cat", "pet=dog", "pet is unseen"]
    rows, problems = encoder.transform(table(pet=["cat", "eel", None, "dog"]))
    np.testing.assert_array_equal(rows, [[0, 1, 0, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 0, 1, 0]])
    assert problems == {}


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


def test_what_cannot_be_learnt_is_named():
    with pytest.raises(DataError, match=r"'day' holds 51 different texts .* drop it"):
        TableEncoder.fit(table(day=[f"day {n}" for n in range(51)]))
    with pytest.raises(DataError, match="'x' is empty in every row"):
        TableEncoder.fit(table(x=["", None]))
    with pytest.raises(DataError, match="'x' is infinite in row 2"):
        TableEncoder.fit(table(x=["1", "", "inf"]))
    with pytest.raises(DataError, match="no column"):
        TableEncoder.fit(Table({}, range(3)))
    assert len(TableEncoder.fit(table(day=[f"day {n}" for n in range(50)])).features) == 51


values = st.one_of(
    st.none(),
    st.booleans(),
    st.floats(),
    st.integers(),
    st.text(max_size=3),
    st.sampled_from(["NA", "1", "2.5"]),
)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(
    columns=st.dictionaries(
        st.text(max_size=3), st.lists(values, min_size=4, max_size=4), min_size=1, max_size=4
    )
)
def test_whatever_is_learnt_scores_its_own_rows_and_survives_json(columns):
    known = Table(columns, range(4))
    try:
        encoder = TableEncoder.fit(known, id_column="id")
    except DataError:
        return
    rows, problems = encoder.transform(known)
    assert problems == {}
    assert rows.shape == (4, len(encoder.features))
    assert np.isfinite(rows).all()
    again = TableEncoder.from_config(json.loads(json.dumps(encoder.to_config())))
    assert again == encoder


@settings(derandomize=True, deadline=None, max_examples=100)
@given(new=st.lists(st.tuples(values, values), min_size=1, max_size=6))
def test_every_row_is_finite_or_has_a_reason(new):
    encoder = TableEncoder.fit(table(x=["1", "", "2"], pet=["a", "b", "a"]))
    rows, problems = encoder.transform(
        Table({"x": [x for x, _ in new], "pet": [p for _, p in new]}, range(len(new)))
    )
    assert all(np.isfinite(row).all() or number in problems for number, row in enumerate(rows))
