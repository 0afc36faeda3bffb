import base64
import io
import json
import os
import re
import tempfile
import threading
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from dissensus.inputs import JsonLines
from dissensus.inputs import json_lines as module


def stream_of(*records):
    lines = [record if isinstance(record, bytes) else json.dumps(record).encode() for record in records]
    return io.BytesIO(b"\n".join(lines))


def read(source, size=100, **options):
    """The one chunk of a file; a pipe's lines come in as many chunks as they happen to arrive in."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "asked.jsonl")
        path.write_bytes(source.read())
        (chunk,) = JsonLines(path, **options).chunks(size)
    return chunk


def test_rows_of_numbers():
    chunk = read(
        stream_of({"id": "a", "values": [1, 2.5]}, {"values": [3, 4]}, {"id": 9, "values": [5, 6]}),
        shape=(2,),
    )
    assert chunk.names == ["a", 1, 9]
    np.testing.assert_array_equal(chunk.inputs, [[1, 2.5], [3, 4], [5, 6]])
    assert chunk.problems == {}


def test_pictures_as_numbers_and_as_files():
    pixels = np.random.default_rng(0).integers(0, 256, (8, 9), np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "png")
    records = (
        {"values": pixels.tolist()},
        {"values": (pixels / 255).tolist()},
        {"values": pixels[..., None].tolist()},
        {"image": base64.b64encode(file.getvalue()).decode()},
    )
    chunk = read(stream_of(*records), shape=(8, 9, 1))
    assert chunk.problems == {}
    for found in chunk.inputs:
        np.testing.assert_allclose(found[..., 0], pixels / 255)


def test_objects_of_columns():
    chunk = read(
        stream_of({"name": "ann", "x": 1, "pet": "cat"}, {"x": None, "other": 3}, {"x": [1, 2]}),
        shape=(3,), columns=("x", "pet"), id_column="name", absent_as_missing=True,
    )  # fmt: skip
    assert chunk.inputs.columns == {"x": [1, None, "[1, 2]"], "pet": ["cat", None, None]}
    assert chunk.names == ["ann", 1, 2]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b"nonsense", "no JSON"),
        (b'{"values": [1, 2]', "no JSON"),
        (b"\xff\xfe", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"[1, 2]", "no JSON object"),
        (b"{}", 'no "values"'),
        (b'{"values": [1]}', r"shape \(1,\)"),
        (b'{"values": [1, [2]]}', "different lengths"),
        (b'{"values": [1, "2"]}', "not all numbers"),
        (b'{"values": [1, null]}', "not all numbers"),
        (b'{"values": [1, NaN]}', "NaN or infinite"),
        (b'{"values": [1, 1e999]}', "NaN or infinite"),
        (b'{"values": {"a": 1}}', "not all numbers"),
        (b'{"values": [1, ' + b"9" * 400 + b"]}", "numbers"),
    ],
)
def test_a_bad_line_is_a_problem_of_its_own(line, complaint):
    chunk = read(stream_of({"values": [1, 2]}, line, {"values": [3, 4]}), shape=(2,))
    assert list(chunk.problems) == [1]
    assert re.search(complaint, chunk.problems[1]), chunk.problems
    np.testing.assert_array_equal(chunk.inputs[[0, 2]], [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("record", "complaint"),
    [
        ({"image": "no base64!"}, "base64"),
        ({"image": 7}, "base64"),
        ({"image": base64.b64encode(b"no picture").decode()}, "the picture cannot be read"),
        ({"values": [[300] * 8] * 8}, "0..255"),
        ({"values": [[0.5] * 8] * 9}, "9×8"),
        ({"values": [1, 2]}, "shape"),
        ({}, '"values" or "image"'),
    ],
)
def test_bad_pictures(record, complaint):
    chunk = read(stream_of(record), shape=(8, 8, 1))
    assert complaint in chunk.problems[0]


def test_ids_that_are_no_text():
    chunk = read(stream_of(b'{"id": "\\ud800", "values": [1]}', {"id": [1], "values": [1]}), shape=(1,))
    assert chunk.names == ["\\ud800", "[1]"]


def test_lines_without_end_are_cut(monkeypatch):
    monkeypatch.setattr(module, "LONGEST_LINE", 50)
    chunk = read(io.BytesIO(b'{"values": [1]}\n' + b"x" * 240 + b'\n{"values": [2]}\n'), shape=(1,))
    assert list(chunk.problems) == [1]
    np.testing.assert_array_equal(chunk.inputs[[0, 2]], [[1], [2]])


def test_empty_lines_do_not_count():
    assert read(io.BytesIO(b'\n\n{"values": [1]}\n  \n{"values": [2]}\n\n'), shape=(1,)).names == [0, 1]


@pytest.mark.parametrize("start", range(6))
def test_a_file_from_any_line_on(tmp_path, start):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"".join(b'{"values": [%d]}\n' % number for number in range(5)))
    chunks = list(JsonLines(path, shape=(1,)).chunks(2, start))
    assert [name for chunk in chunks for name in chunk.names] == list(range(5))[start:]
    assert [int(row[0]) for chunk in chunks for row in chunk.inputs] == list(range(5))[start:]
    assert not JsonLines(path, shape=(1,)).live


def test_a_pipe_answers_before_it_is_closed():
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as out, os.fdopen(writing, "wb", buffering=0) as into:
        chunks = JsonLines(out, shape=(1,)).chunks(100)
        for number in range(3):
            into.write(b'{"values": [%d]}\n' % number)
            assert next(chunks).names == [number]
        threading.Thread(target=into.close).start()
        assert list(chunks) == []


def test_a_pipe_that_breaks_is_an_error():
    class Broken(io.BytesIO):
        def readline(self, *_):
            raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        list(JsonLines(Broken(), shape=(1,)).chunks(3))
