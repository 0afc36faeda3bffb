import csv

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.errors import DataError
from dissensus.inputs import TableFile, is_table, open_inputs
from dissensus.inputs.tables import require_pyarrow


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def people(tmp_path):
    return written(tmp_path / "people.csv", "name,age,pet\nann,30,cat\nbob,,dog\n\ncy,50,\n")


def test_columns_and_rows(people):
    table = TableFile(people).load()
    assert table.columns == {"name": ["ann", "bob", "cy"], "age": ["30", "", "50"], "pet": ["cat", "dog", ""]}
    assert table.names == [0, 1, 2]
    assert len(TableFile(people)) == 3


def test_ids_and_dropped_columns_are_no_inputs(people):
    file = TableFile(people, id_column="name", drop=["pet"])
    assert file.columns == ("age",)
    assert file.load().names == ["ann", "bob", "cy"]


def test_rows_without_an_id_are_called_by_number(tmp_path):
    path = written(tmp_path / "t.csv", "id,x\na,1\n,2\nc,3\n")
    assert TableFile(path, id_column="id").load().names == ["a", 1, "c"]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_separators_are_found(tmp_path, separator):
    lines = [separator.join(row) for row in (["a", "b"], ["1", "x y"])]
    assert TableFile(written(tmp_path / "t.csv", "\n".join(lines))).load().columns == {
        "a": ["1"],
        "b": ["x y"],
    }


def test_byte_order_marks_and_quotes(tmp_path):
    path = written(tmp_path / "t.csv", '\ufeffa,"b, c"\n"1\n2","say ""hi"""\n')
    assert TableFile(path).load().columns == {"a": ["1\n2"], "b, c": ['say "hi"']}


@settings(derandomize=True, deadline=None, max_examples=40)
@given(
    rows=st.lists(st.tuples(st.text("ab,\"\n é'", min_size=1), st.floats(allow_nan=False)), max_size=30),
    size=st.integers(1, 7),
    start=st.integers(0, 35),
)
def test_chunks_are_the_whole_from_any_row_on(tmp_path_factory, rows, size, start):
    path = tmp_path_factory.mktemp("t") / "t.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([("t", "x"), *rows])
    chunks = list(TableFile(path).chunks(size, start))
    texts = [text for chunk in chunks for text in chunk.inputs.columns["t"]]
    assert texts == [text for text, _ in rows[start:]]
    assert [name for chunk in chunks for name in chunk.names] == list(range(len(rows)))[start:]
    assert all(len(chunk.names) <= size for chunk in chunks)


def test_rows_of_another_length_are_problems_of_their_own(tmp_path):
    path = written(tmp_path / "t.csv", "a,b\n1,2\n3\n4,5,6\n7,8\n")
    (chunk,) = TableFile(path).chunks(10)
    assert sorted(chunk.problems) == [1, 2]
    assert "3 fields" in chunk.problems[2]
    assert chunk.inputs.columns["a"] == ("1", None, None, "7")
    with pytest.raises(DataError, match=r"t\.csv .* row 1: it has 1 field"):
        TableFile(path).load()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "is empty: its first line must name"),
        ("a,,b\n1,2,3\n", "name every column"),
        ("1,2\n3,4\n", "numbers in its first line"),
        ("a,b,a\n1,2,3\n", "two columns named 'a'"),
        ("a,b\n", "no rows"),
    ],
)
def test_files_that_are_no_tables(tmp_path, text, complaint):
    path = written(tmp_path / "t.csv", text)
    with pytest.raises(DataError, match=complaint) as caught:
        TableFile(path).load()
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("content", [b"a,b\n1,\xff\xfe\n", b"\xff\xfe\x00", b"a,b\n1," + b"x" * 200_000])
def test_bytes_that_are_no_text(tmp_path, content):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"t\.csv cannot be read"):
        TableFile(path).load()


@pytest.mark.parametrize("options", [{"id_column": "nobody"}, {"drop": ["nobody"]}])
def test_unknown_columns(people, options):
    with pytest.raises(DataError, match="no column 'nobody': it has name, age, pet"):
        TableFile(people, **options)


def test_paths_to_tables_are_opened(people, tmp_path):
    assert isinstance(open_inputs(people), TableFile)
    assert is_table(str(people))
    assert not is_table(tmp_path / "none.csv")
    assert not is_table(tmp_path)
    assert not is_table(np.zeros(3))


def test_without_pyarrow_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    with pytest.raises(DataError, match=r"t\.parquet needs pyarrow: pip install 'dissensus\[table\]'"):
        require_pyarrow("t.parquet")


class TestParquet:
    @pytest.fixture
    def path(self, tmp_path):
        pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        columns = {
            "id": [7, 8, 9],
            "age": [30.0, None, 50.0],
            "ok": [True, False, None],
            "pet": ["cat", "dog", None],
        }
        parquet.write_table(pyarrow.table(columns), tmp_path / "t.parquet", row_group_size=2)
        return tmp_path / "t.parquet"

    def test_values_keep_their_types(self, path):
        table = TableFile(path, id_column="id").load()
        assert table.names == [7, 8, 9]
        assert table.columns["age"] == [30.0, None, 50.0]
        assert table.columns["ok"] == [True, False, None]
        assert len(TableFile(path)) == 3

    @pytest.mark.parametrize("size", [1, 2, 5])
    @pytest.mark.parametrize("start", [0, 1, 2, 3])
    def test_chunks_from_any_row_on(self, path, size, start):
        chunks = list(TableFile(path, id_column="id").chunks(size, start))
        assert [name for chunk in chunks for name in chunk.names] == [7, 8, 9][start:]

    def test_damage(self, path):
        whole = path.read_bytes()
        for content in (whole[:-9], b"", whole[:40] + bytes(40) + whole[80:]):
            path.write_bytes(content)
            with pytest.raises(DataError, match="cannot be read as Parquet"):
                TableFile(path).load()


def test_empty_lines_before_the_header_do_not_count(tmp_path):
    path = written(tmp_path / "t.csv", "\n\na;b\n1;2\n")
    assert TableFile(path).load().columns == {"a": ["1"], "b": ["2"]}
