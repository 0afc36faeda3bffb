"""Frames as streams of tables."""

import numpy as np
import pytest

from dissensus.errors import DataError
from dissensus.inputs.frames import frame_of

VALUES = {"x": [1, None, 3], "name": ["a", "b", None], "ok": [True, False, None]}


@pytest.fixture(params=["pandas", "polars", "pyarrow"])
def make(request):
    library = pytest.importorskip(request.param)
    return library.table if request.param == "pyarrow" else library.DataFrame


def test_columns_keep_their_names_and_missing_values_are_missing(make):
    table = frame_of(make(VALUES)).load()
    assert list(table.columns) == ["x", "name", "ok"]
    np.testing.assert_array_equal(table.columns["x"], [1, np.nan, 3])
    assert table.columns["name"] == ["a", "b", None]
    assert table.columns["ok"] == [True, False, None]
    assert list(table.names) == [0, 1, 2]


@pytest.mark.parametrize(("size", "start"), [(1, 0), (2, 0), (2, 1), (9, 2), (2, 3)])
def test_frames_in_parts(make, size, start):
    chunks = list(frame_of(make(VALUES)).chunks(size, start))
    assert [name for chunk in chunks for name in chunk.names] == [0, 1, 2][start:]
    assert [name for chunk in chunks for name in chunk.inputs.columns["name"]] == VALUES["name"][start:]
    assert not chunks or chunks[-1].share == 1


def test_a_column_may_name_the_rows(make):
    frame = frame_of(make(VALUES))
    named = type(frame)(frame.frame, id_column="name")
    assert named.columns == ("x", "ok")
    assert list(named.load().names) == ["a", "b", 2]
    assert named.load().id_column == "name"


def test_whole_numbers_of_64_bits_are_the_floats_a_file_would_give(make):
    large = 2**63 - 1
    assert frame_of(make({"x": [large]})).load().columns["x"][0] == float(str(large))


@pytest.mark.parametrize("source", [np.zeros((2, 2)), [[1, 2]], "a.csv", None, 7, {"a": [1]}])
def test_other_things_are_no_frames(source):
    assert frame_of(source) is None


def test_a_frame_without_columns_that_were_fitted_on_is_refused(make):
    frame = frame_of(make(VALUES))
    frame.known_as(["ok", "x"])  # more columns, and another order, are fine
    with pytest.raises(DataError, match="yet now missing:\n- y\n- z\n"):
        frame.known_as(["x", "z", "y"])
