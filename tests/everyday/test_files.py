"""Files as people have them: packed, from a spreadsheet, in linked folders, and the wrong ones."""

import gzip
import json
import sys
from datetime import datetime

import numpy as np
import pytest
from PIL import Image

from dissensus import Detector
from dissensus.errors import DataError
from dissensus.inputs import ImageFolder, TableFile
from dissensus.inputs.tables import TABLE_SUFFIXES
from tests.cli.conftest import stripes
from tests.everyday.conftest import penguins, records_of, rows_of, text_of


@pytest.fixture
def gate(penguin_gate):
    return Detector.load(penguin_gate, device="cpu")


def saved(path, table):
    """The table in a file of the format that its name says."""
    suffix = "".join(path.suffixes)
    if suffix == ".xlsx":
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        sheet = book.active
        sheet.append(list(table))
        for row in zip(*table.values(), strict=True):
            sheet.append([datetime.fromisoformat(v) if v == row[-1] else v for v in row])
        book.create_sheet("notes").append(["nothing of interest"])
        book.save(path)
    elif suffix == ".jsonl.gz":
        lines = [json.dumps(record) + "\n" for record in records_of(table)]
        path.write_bytes(gzip.compress("".join(lines).encode()))
    elif suffix.endswith(".gz"):
        text = text_of(table, "\t" if suffix == ".tsv.gz" else ",")
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text_of(table))
    return path


@pytest.mark.parametrize("suffix", [".csv.gz", ".tsv.gz", ".jsonl.gz", ".xlsx", ".CSV.GZ"])
def test_the_same_rows_in_any_file_score_the_same(gate, dissensus, penguin_gate, tmp_path, suffix):
    table = penguins(50, seed=2)
    plain = saved(tmp_path / "new.csv", table)
    other = saved(tmp_path / f"new{suffix.lower()}", table)
    if suffix.isupper():
        other = other.rename(tmp_path / f"New{suffix}")
    np.testing.assert_array_equal(gate.score_samples(other), gate.score_samples(plain))
    printed = dissensus("score", penguin_gate, other)
    assert printed.code == 0, printed.err
    assert printed.out == dissensus("score", penguin_gate, plain).out


@pytest.mark.parametrize("suffix", [".csv.gz", ".xlsx"])
def test_a_fit_takes_them_too(gate, tmp_path, suffix):
    table = penguins(240)
    from_file = Detector(epochs=3, draws=2, device="cpu").fit(saved(tmp_path / f"train{suffix}", table))
    new = saved(tmp_path / "new.csv", penguins(20, seed=2))
    np.testing.assert_array_equal(from_file.score_samples(new), gate.score_samples(new))


def test_chunks_of_packed_files_go_on_anywhere(tmp_path):
    table = penguins(30)
    for suffix in (".csv.gz", ".xlsx"):
        file = TableFile(saved(tmp_path / f"t{suffix}", table))
        assert len(file) == 30
        found = [
            row for chunk in file.chunks(7, start=11) for row in chunk.inputs.columns["flipper_length_mm"]
        ]
        assert list(map(int, found)) == table["flipper_length_mm"][11:]


def test_sheets_as_people_leave_them(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    rows = [
        [],
        [None, None],
        ["mass", " island ", None],
        [3700, "Dream", None],
        [],
        [3800],
        [1, "x", None, "?"],
    ]
    for row in rows:
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    [chunk] = TableFile(tmp_path / "t.xlsx").chunks(9)
    assert dict(chunk.inputs.columns) == {"mass": (3700, 3800, None), "island": ("Dream", None, None)}
    assert list(chunk.problems) == [2]


@pytest.mark.parametrize("name", ["t.csv.gz", "t.xlsx", "t.jsonl.gz"])
def test_damaged_files_are_one_sentence(dissensus, penguin_gate, tmp_path, name):
    path = saved(tmp_path / name, penguins(300))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    answer = dissensus("score", penguin_gate, path, "-o", tmp_path / "rows.csv")
    assert answer.code == 2
    assert "cannot be read" in answer.err
    assert len(answer.err.splitlines()) == 1
    assert not (tmp_path / "rows.csv").exists()


def test_a_file_that_unpacks_to_far_more_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("dissensus.inputs.unpacking.HARMLESS", 1 << 10)
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 100_000, 9))
    with pytest.raises(DataError, match="unpacks to"):
        list(TableFile(path).chunks(1 << 16))


def test_excel_needs_an_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    (tmp_path / "t.xlsx").write_bytes(b"PK")
    with pytest.raises(DataError, match=r"pip install 'dissensus\[excel\]'"):
        TableFile(tmp_path / "t.xlsx")


@pytest.mark.parametrize("name", ["rows.txt", "rows.csv.gz", "rows.xlsx", "rows.v2"])
def test_rows_of_no_known_format_are_refused(dissensus, penguin_gate, tmp_path, name):
    path = saved(tmp_path / "new.csv", penguins(3))
    answer = dissensus("score", penguin_gate, path, "-o", tmp_path / name)
    assert answer.code == 2
    assert "name it .csv, .jsonl or .parquet" in answer.err
    assert dissensus("score", penguin_gate, path, "-o", tmp_path / name, "--format", "csv").code == 0
    assert len(rows_of((tmp_path / name).read_text())) == 3


def test_a_page_that_is_none_is_refused(dissensus, penguin_gate, tmp_path):
    path = saved(tmp_path / "new.csv", penguins(3))
    answer = dissensus("report", penguin_gate, path, "-o", tmp_path / "page.pdf")
    assert answer.code == 2
    assert "page.html" in answer.err


@pytest.fixture
def pictures(tmp_path):
    """Pictures in a folder, a linked one, one that is linked twice, and one that links to what it is in."""
    root, elsewhere = tmp_path / "pictures", tmp_path / "elsewhere"
    (root / "own").mkdir(parents=True)
    (elsewhere / "deep").mkdir(parents=True)
    places = [root / "a.png", root / "own/b.png", elsewhere / "c.png", elsewhere / "deep/d.png"]
    for place, pixels in zip(places, stripes(4), strict=True):
        Image.fromarray(pixels).save(place)
    try:
        (root / "linked").symlink_to(elsewhere)
        (root / "again").symlink_to(root / "own")
        (elsewhere / "deep/up").symlink_to(root)
    except OSError:
        pytest.skip("there are no links here")
    return root


def test_linked_folders_are_followed_once(pictures):
    names = [path.relative_to(pictures).as_posix() for path in ImageFolder(pictures).paths]
    assert names == ["a.png", "linked/c.png", "linked/deep/d.png", "own/b.png"]


def test_pictures_in_linked_folders_are_scored(dissensus, picture_gate, pictures):
    answer = dissensus("score", picture_gate, pictures)
    assert answer.code == 0, answer.err
    assert len(rows_of(answer.out)) == 4


def test_pictures_of_a_telephone_are_not_left_out_in_silence(dissensus, picture_gate, pictures):
    (pictures / "own" / "IMG_1.HEIC").write_bytes(b"?")
    said = f"{pictures} holds 1 picture in a format that cannot be read (own/IMG_1.HEIC)"
    answer = dissensus("score", picture_gate, pictures)
    assert (answer.code, len(rows_of(answer.out))) == (0, 4)
    assert f"{said}: left out; save as JPEG or PNG" in answer.err.splitlines()
    for other in pictures.rglob("*.png"):
        other.unlink()
    with pytest.raises(DataError, match="and no others: save them as JPEG or PNG"):
        ImageFolder(pictures / "own")


def test_a_link_that_leads_nowhere_is_no_folder(pictures):
    (pictures / "linked").unlink()
    (pictures / "linked").symlink_to("nowhere")
    assert len(ImageFolder(pictures)) == 2


@pytest.mark.parametrize("command", ["score", "report", "calibrate", "explain"])
def test_a_table_for_a_gate_of_pictures(dissensus, picture_gate, tmp_path, command):
    path = saved(tmp_path / "new.csv", penguins(3))
    answer = dissensus(
        command, picture_gate, path, "-o", tmp_path / "out.html" if command == "report" else tmp_path / "o"
    )
    assert answer.code == 2
    assert f"{path} is a table, and this detector was fitted on pictures" in answer.err


def test_pictures_for_a_gate_of_rows(dissensus, penguin_gate, pictures):
    answer = dissensus("score", penguin_gate, pictures)
    assert answer.code == 2
    assert "takes rows of 7 values: give it a table" in answer.err


def test_a_fit_on_json_lines_is_told_what_to_take(dissensus, tmp_path):
    path = saved(tmp_path / "new.jsonl.gz", penguins(3))
    answer = dissensus("fit", path, "-o", tmp_path / "gate")
    assert answer.code == 2
    assert "holds JSON lines" in answer.err


def test_every_kind_of_table_is_named_in_the_help(dissensus):
    help_text = "".join(dissensus("score", "--help").out.split())
    assert all(suffix in help_text for suffix in TABLE_SUFFIXES if suffix != ".tsv.gz")
