"""Records are written whole, say exactly what they were given, and are read back as they were."""

import json
import math
import os
from pathlib import Path

import numpy as np
import pytest

from dissensus.errors import DataError, OutputError
from dissensus.evaluation import read_records, write_record


def test_record_comes_back_as_it_was(tmp_path):
    payload = {
        "zeta": 0.1 + 0.2,
        "alpha": {"tiny": 5e-324, "big": 10**30, "none": None, "yes": True, "name": "Hernández–Lobato"},
        "list": [1, 2.5, [], {}],
    }
    write_record(tmp_path / "r.json", payload)
    back = read_records(tmp_path)["r.json"]
    assert back == payload
    assert list(back) == ["zeta", "alpha", "list"]


def test_same_payload_gives_the_same_bytes_ending_in_a_newline(tmp_path):
    for name in ("a.json", "b.json"):
        write_record(tmp_path / name, {"b": 1.0, "a": [0.1]})
    first = (tmp_path / "a.json").read_bytes()
    assert first == (tmp_path / "b.json").read_bytes()
    assert first.endswith(b"}\n")


def test_numpy_numbers_and_arrays_become_plain_ones(tmp_path):
    payload = {
        "f32": np.float32(0.1),
        "f64": np.float64(0.1),
        "i": np.int64(3),
        "b": np.bool_(True),
        "array": np.arange(4).reshape(2, 2),
        "tuple": (1, np.float64(2.0)),
    }
    write_record(tmp_path / "r.json", payload)
    back = read_records(tmp_path)["r.json"]
    assert back == {
        "f32": float(np.float32(0.1)),
        "f64": 0.1,
        "i": 3,
        "b": True,
        "array": [[0, 1], [2, 3]],
        "tuple": [1, 2.0],
    }
    assert back["b"] is True


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, np.float32("nan")])
def test_what_json_cannot_say_is_refused_by_key(tmp_path, bad):
    write_record(tmp_path / "r.json", {"old": 1})
    with pytest.raises(DataError, match=r"record\.scores\[1\]\.auroc is -?(nan|inf)"):
        write_record(tmp_path / "r.json", {"scores": [{"auroc": 1.0}, {"auroc": bad}]})
    with pytest.raises(DataError, match=r"record\.values\[0\]\[1\]"):
        write_record(tmp_path / "r.json", {"values": np.array([[0.0, bad]])})
    assert read_records(tmp_path) == {"r.json": {"old": 1}}


@pytest.mark.parametrize("bad", [Path("data"), {1}, object(), 1j, b"x", np.datetime64("2020-01-01")])
def test_other_objects_are_refused_by_key(tmp_path, bad):
    with pytest.raises(DataError, match=r"record\.settings\.thing is a "):
        write_record(tmp_path / "r.json", {"settings": {"thing": bad}})
    assert list(tmp_path.iterdir()) == []


def test_keys_that_are_not_strings_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"record\.draws: the key 1 is not a string"):
        write_record(tmp_path / "r.json", {"draws": {1: 2}})


def test_folders_are_made_and_nothing_else_is_left_behind(tmp_path):
    write_record(tmp_path / "a" / "b" / "r.json", {"x": 1})
    write_record(tmp_path / "a" / "b" / "r.json", {"x": 2})
    assert [file.name for file in (tmp_path / "a" / "b").iterdir()] == ["r.json"]
    assert read_records(tmp_path) == {"a/b/r.json": {"x": 2}}


def test_a_failed_write_keeps_the_old_record(tmp_path, monkeypatch):
    write_record(tmp_path / "r.json", {"x": 1})

    def full_disk(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full_disk)
    with pytest.raises(OutputError, match=r"r\.json.*No space left on device.*free some space"):
        write_record(tmp_path / "r.json", {"x": 2})
    assert json.loads((tmp_path / "r.json").read_text()) == {"x": 1}
    assert [file.name for file in tmp_path.iterdir()] == ["r.json"]


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"file/r\.json cannot be written .*: choose another place$"):
        write_record(tmp_path / "file" / "r.json", {"x": 1})


def test_records_are_read_from_subfolders_in_sorted_order(tmp_path):
    for name in ("b/2.json", "a.json", "b/1.json"):
        write_record(tmp_path / name, {"name": name})
    (tmp_path / "figure.png").write_bytes(b"")
    assert list(read_records(tmp_path)) == ["a.json", "b/1.json", "b/2.json"]


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(DataError, match="nowhere"):
        read_records(tmp_path / "nowhere")


@pytest.mark.parametrize(
    "content", [b'{"x": 1', b"", b"\xff\xfe", b'{"x": NaN}', b'{"x": -Infinity}', b"[1, 2]"]
)
def test_a_damaged_record_is_named(tmp_path, content):
    write_record(tmp_path / "good.json", {"x": 1})
    (tmp_path / "bad.json").write_bytes(content)
    with pytest.raises(DataError, match=r"bad\.json"):
        read_records(tmp_path)
