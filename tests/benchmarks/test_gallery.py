"""Examples are run as they are, and what they print and draw is kept."""

import pytest
from rich.console import Console

from benchmarks.gallery import pieces
from benchmarks.gallery.pieces import figure_of, gallery_pieces
from benchmarks.pieces import measure_missing
from benchmarks.records import Records
from dissensus.errors import DissensusError

DRAWING = """
from PIL import Image
print("two lines\\nof words")
Image.new("RGB", (3, 2), "red").save("drawing.png")
"""


@pytest.fixture
def examples(monkeypatch, tmp_path):
    folder = tmp_path / "examples"
    folder.mkdir()
    monkeypatch.setattr(pieces, "EXAMPLES", folder)
    (folder / "drawing.py").write_text(DRAWING, "utf-8")
    return folder


def test_what_an_example_prints_and_draws_is_kept_until_its_source_changes(examples, tmp_path):
    records, quiet = Records(tmp_path / "results"), Console(quiet=True)

    def measured():
        measure_missing(records, gallery_pieces(records.folder), quiet)
        (record,) = records.read("gallery")
        return record

    first = measured()
    assert first.about["said"] == "two lines\nof words\n"
    assert figure_of(records.folder, "drawing").is_file()
    assert measured().environment == first.environment
    assert measured().seconds == first.seconds  # it was not run again
    (examples / "drawing.py").write_text("print('other words')", "utf-8")
    assert measured().about["said"] == "other words\n"


def test_an_example_that_fails_is_named_with_its_last_words(examples, tmp_path):
    (examples / "drawing.py").write_text("raise SystemExit('no paper')", "utf-8")
    with pytest.raises(DissensusError, match=r"drawing\.py ended with 1: no paper"):
        measure_missing(Records(tmp_path), gallery_pieces(tmp_path), Console(quiet=True))
