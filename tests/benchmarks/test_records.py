"""One format for all that is measured: written whole, found again by settings, refused where damaged."""

import json
import subprocess
import sys

import pytest

from benchmarks.places import ROOT
from benchmarks.records import Record, Records, digest
from dissensus.errors import DataError


def record(name="ours", seed=0, *, auroc=0.9, quick=False, **settings):
    rows = [{"outliers": "digits", "auroc": auroc}, {"outliers": "noise", "auroc": 1.0}]
    return Record(name, seed, {"draws": 20, **settings}, rows, {"all": 1.5}, quick=quick)


@pytest.fixture
def records(tmp_path):
    return Records(tmp_path / "panel")


def test_what_is_written_is_read(records):
    for each in (record("theirs", None), record(seed=1), record(seed=0)):
        records.add("mnist", each)
    found = records.read("mnist")
    assert [(each.name, each.seed) for each in found] == [("ours", 0), ("ours", 1), ("theirs", None)]
    assert found[0].rows == [{"outliers": "digits", "auroc": 0.9}, {"outliers": "noise", "auroc": 1}]
    assert found[0].environment["versions"]["torch"]
    assert records.groups() == ["mnist"]
    assert [group for group, _ in records.all()] == ["mnist"] * 3


def test_a_second_measurement_takes_the_first_one_s_place(records):
    records.add("mnist", record(auroc=0.5))
    records.add("mnist", record(auroc=0.6))
    assert [each.rows[0]["auroc"] for each in records.read("mnist")] == [0.6]


def test_it_is_found_by_its_settings(records):
    records.add("mnist", record(widths=(32, 64), step=0.1 + 0.2))
    asked = {"draws": 20, "widths": (32, 64), "step": 0.1 + 0.2}
    assert records.find("mnist", "ours", 0, asked) is not None
    assert records.find("mnist", "ours", 0, {**asked, "draws": 21}) is None
    assert records.find("mnist", "ours", 1, asked) is None
    assert records.find("svhn", "ours", 0, asked) is None
    assert digest(asked) == digest(records.read("mnist")[0].settings)


def test_columns_that_some_rows_lack(records):
    rows = [{"a": 1}, {"a": 2, "b": 3}]
    records.add("mnist", Record("ours", 0, {}, rows, {}))
    assert records.read("mnist")[0].rows == [{"a": 1, "b": None}, {"a": 2, "b": 3}]


def test_quick_and_full_ones_are_kept_apart(records, tmp_path):
    records.add("mnist", record())
    with pytest.raises(DataError, match=r"mnist\.jsonl holds full records"):
        Records(tmp_path / "panel", quick=True).read("mnist")
    with pytest.raises(ValueError, match="of its kind"):
        records.add("mnist", record(quick=True))


@pytest.mark.parametrize("damage", ["{", "[]", '{"name": 1}', "\udcff", '{"rows": {"a": [NaN]}}'])
def test_a_damaged_file_is_named_with_its_line(records, tmp_path, damage):
    records.add("mnist", record())
    path = tmp_path / "panel" / "mnist.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + damage.encode(errors="surrogateescape"))
    with pytest.raises(DataError, match=r"mnist\.jsonl(, line 2| cannot be read)"):
        records.read("mnist")
    with pytest.raises(DataError):
        records.add("mnist", record(seed=1))
    assert path.read_bytes().startswith(whole)


def test_what_json_cannot_hold_is_refused_before_anything_is_written(records):
    records.add("mnist", record())
    with pytest.raises(DataError, match=r"ours.rows.auroc\[0\] is nan"):
        records.add("mnist", record(seed=1, auroc=float("nan")))
    assert len(records.read("mnist")) == 1


WRITER = """
import sys
from pathlib import Path
from benchmarks.records import Record, Records
for seed in range(10):
    Records(Path(sys.argv[1])).add("all", Record(sys.argv[2], seed, {}, [], {}, environment={}))
"""


def test_two_processes_lose_nothing(tmp_path):
    call = [sys.executable, "-c", WRITER, str(tmp_path)]
    started = [subprocess.Popen([*call, name], cwd=ROOT) for name in ("a", "b")]
    assert [process.wait() for process in started] == [0, 0]
    found = Records(tmp_path).read("all")
    assert [(each.name, each.seed) for each in found] == [(name, n) for name in "ab" for n in range(10)]
    assert json.loads((tmp_path / "all.jsonl").read_text().splitlines()[0])["quick"] is False
