import csv
import io
import json
import math
import os
import threading
from contextlib import nullcontext

import numpy as np
import pytest

from dissensus.decisions import DriftMonitor, benjamini_hochberg
from dissensus.destination import Destination
from dissensus.errors import SettingsError
from dissensus.outputs import Row, format_of, with_drift, with_fdr, write_rows, writer_to
from dissensus.outputs import parquet as parquet_rows

ROWS = [
    Row(0, 1.25, 0.5, False),
    Row('b,\n"c" é', math.inf, 1 / 3, True),
    Row("d", error="it is no picture"),
    Row(3, -1e-300, 1.0, False),
]
COLUMNS = ["input", "score", "p_value", "flagged", "error"]


@pytest.mark.parametrize("size", [1, 3, 9])
def test_csv(tmp_path, size):
    write_rows(Destination(tmp_path / "x"), "csv", COLUMNS, [ROWS[n : n + size] for n in range(0, 4, size)])
    with (tmp_path / "x").open(newline="", encoding="utf-8") as stream:
        read = list(csv.reader(stream))
    assert read[0] == COLUMNS
    assert [row[0] for row in read[1:]] == [str(row.input) for row in ROWS]
    assert [row[3] for row in read[1:]] == ["false", "true", "", "false"]
    assert float(read[2][1]) == math.inf
    assert float(read[2][2]) == 1 / 3
    assert read[3] == ["d", "", "", "", "it is no picture"]


def test_json_lines(tmp_path):
    write_rows(Destination(tmp_path / "x"), "jsonl", COLUMNS, [ROWS])
    read = [json.loads(line) for line in (tmp_path / "x").read_text("utf-8").splitlines()]
    assert [line["input"] for line in read] == [row.input for row in ROWS]
    assert read[1] == {
        "input": ROWS[1].input,
        "score": None,
        "p_value": 1 / 3,
        "flagged": True,
        "error": None,
    }


def test_parquet(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    write_rows(Destination(tmp_path / "x"), "parquet", COLUMNS, [ROWS[:3], ROWS[3:]])
    read = parquet.read_table(tmp_path / "x").to_pylist()
    assert [row["input"] for row in read] == [str(row.input) for row in ROWS]
    assert [row["score"] for row in read] == [row.score for row in ROWS]
    assert [row["flagged"] for row in read] == [False, True, None, False]
    write_rows(Destination(tmp_path / "none"), "parquet", COLUMNS, [])
    assert parquet.read_table(tmp_path / "none").column_names == COLUMNS


@pytest.mark.parametrize("size", [1, 3, 40])
def test_parquet_is_the_same_bytes_however_rows_come(tmp_path, monkeypatch, size):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(parquet_rows, "GROUP", 7)
    rows = ROWS * 10
    for name, parts in {"at once": [rows], "some": [rows[n : n + size] for n in range(0, 40, size)]}.items():
        write_rows(Destination(tmp_path / name), "parquet", COLUMNS, parts)
    assert (tmp_path / "some").read_bytes() == (tmp_path / "at once").read_bytes()


def test_no_rows_are_a_header():
    stream = io.StringIO()
    writer = writer_to(stream, "csv", COLUMNS)
    assert stream.getvalue() == ""
    writer.close()
    assert stream.getvalue() == ",".join(COLUMNS) + "\n"


def test_rows_that_come_one_by_one_become_tables_by_the_thousand(monkeypatch):
    """A table for each of them would take minutes and hundreds of megabytes for a group."""
    pytest.importorskip("pyarrow")
    made = []
    writer = parquet_rows.ParquetRows(io.BytesIO(), COLUMNS, None)
    monkeypatch.setattr(writer, "write_table", lambda table: made.append(len(table)))
    for number in range(10_000):
        writer.write([Row(number, 0.5, 0.5, False)])
    writer.close()
    assert made == [4096, 4096, 1808]


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
def test_a_failure_leaves_what_was_there(tmp_path, format):
    if format == "parquet":
        pytest.importorskip("pyarrow")
    target = tmp_path / "x"
    target.write_text("precious")

    def failing():
        yield ROWS
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_rows(Destination(target), format, COLUMNS, failing())
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
    assert target.read_text() == "precious"


def test_formats_by_name(tmp_path):
    names = ["a.csv", "a.JSONL", "a.parquet", "a"]
    assert [format_of(tmp_path / name) for name in names] == ["csv", "jsonl", "parquet", "csv"]
    with pytest.raises(SettingsError, match="no format that rows are written in"):
        format_of(tmp_path / "a.txt")


def test_fdr_is_benjamini_hochberg_over_all_parts():
    p_values = np.random.default_rng(0).uniform(size=200) ** 4
    rows = [Row(n, 0.0, float(p), False) for n, p in enumerate(p_values)]
    rows.insert(50, Row("bad", error="unreadable"))
    for fdr in (0.01, 0.1, 0.5):
        found = [r for part in with_fdr([rows[:70], rows[70:]], p_values.tolist(), fdr) for r in part]
        assert found[50].flagged is None
        flagged = [row.flagged for row in found if row.p_value is not None]
        assert flagged == benjamini_hochberg(p_values, fdr).flagged.tolist()
    assert not any(
        r.flagged for part in with_fdr([rows], [1.0] * 200, 0.1) for r in part if r.p_value and r.p_value > 0
    )


def test_drift_is_the_monitors_own_path():
    random = np.random.default_rng(0)
    calibration, scores = random.normal(size=50), random.normal(size=40) + 1
    rows = [Row(n, float(s), 0.5, False) for n, s in enumerate(scores)]
    rows.insert(7, Row("bad", error="unreadable"))
    found = [
        r.drift
        for part in with_drift([rows[:9], rows[9:9], rows[9:]], DriftMonitor(calibration))
        for r in part
    ]
    assert found.pop(7) is None
    np.testing.assert_allclose(found, DriftMonitor(calibration).update(scores))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes by name")
@pytest.mark.parametrize("fails", [False, True])
def test_parquet_through_a_pipe_is_whole_or_no_parquet(tmp_path, fails):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pipe, found = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()), daemon=True)
    reader.start()

    def parts():
        yield ROWS[:3]
        if fails:
            raise RuntimeError
        yield ROWS[3:]

    with Destination(pipe) as place, pytest.raises(RuntimeError) if fails else nullcontext():
        write_rows(place, "parquet", COLUMNS, parts())
    reader.join(timeout=600)
    if fails:
        with pytest.raises(pyarrow.ArrowInvalid):
            parquet.read_table(io.BytesIO(found[0]))
    else:
        assert parquet.read_table(io.BytesIO(found[0])).column("p_value").to_pylist() == [
            row.p_value for row in ROWS
        ]
