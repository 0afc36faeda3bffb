import csv
import io
import json
import os

import numpy as np
import pytest
from picture_bombs import jpeg_with_scans
from PIL import Image

from dissensus import BayesianVAE


@pytest.fixture
def mixed_file(tmp_path):
    """Ten images: some like the gate's own, some of pure noise."""
    rng = np.random.default_rng(3)
    images = np.concatenate([np.full((3, 8, 8), 120, np.uint8), rng.integers(0, 256, (7, 8, 8), np.uint8)])
    np.save(tmp_path / "mixed.npy", images)
    return tmp_path / "mixed.npy"


def table_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_csv_holds_what_the_detector_says(dissensus, gate, mixed_file):
    answer = dissensus("score", gate, mixed_file)
    assert answer.code == 0
    rows = table_of(answer.out)
    detector, images = BayesianVAE.load(gate), np.load(mixed_file)
    assert [row["input"] for row in rows] == [str(n) for n in range(10)]
    np.testing.assert_allclose([float(row["score"]) for row in rows], -detector.score_samples(images))
    np.testing.assert_allclose([float(row["p_value"]) for row in rows], detector.p_values(images))
    assert [row["flagged"] == "true" for row in rows] == (detector.predict(images) == -1).tolist()
    assert answer.err.startswith(f"{sum(row['flagged'] == 'true' for row in rows)} of 10 inputs flagged")


def test_json_lines_hold_the_same_as_csv(dissensus, gate, mixed_file, tmp_path):
    target = tmp_path / "rows.jsonl"
    assert dissensus("score", gate, mixed_file, "-o", target).code == 0
    lines = [json.loads(line) for line in target.read_text().splitlines()]
    table = table_of(dissensus("score", gate, mixed_file, "--format", "csv").out)
    assert [set(line) for line in lines] == [{"input", "score", "p_value", "flagged"}] * 10
    assert [line["score"] for line in lines] == [float(row["score"]) for row in table]
    assert [line["flagged"] for line in lines] == [row["flagged"] == "true" for row in table]
    assert [line["input"] for line in lines] == list(range(10))


def test_json_prints_a_summary_only(dissensus, gate, mixed_file, tmp_path):
    answer = dissensus("score", gate, mixed_file, "--json", "-o", tmp_path / "rows.csv")
    flagged = sum(row["flagged"] == "true" for row in table_of((tmp_path / "rows.csv").read_text()))
    assert answer.json["inputs"] == 10
    assert answer.json["flagged"] == flagged
    assert answer.json["threshold"] == BayesianVAE.load(gate).threshold_
    assert answer.err == ""


def test_exit_code_one_only_if_asked_and_flagged(dissensus, gate, images_file):
    # At a false-alarm rate of one half about half of anything is flagged.
    asked = dissensus("score", gate, images_file, "--json", "--fail-on-outliers")
    assert asked.json["flagged"] > 0
    assert asked.code == 1
    assert dissensus("score", gate, images_file, "--json").code == 0


def test_no_outliers_are_fine(dissensus, fit, images_file, tmp_path):
    # So few calibration rows allow no alarm at this rate.
    assert fit(images_file, tmp_path / "gate", "--false-alarm-rate", 0.01).code == 0
    answer = dissensus("score", tmp_path / "gate", images_file, "--json", "--fail-on-outliers")
    assert (answer.code, answer.json["flagged"], answer.json["threshold"]) == (0, 0, None)


def test_folders_are_named_by_path_and_streamed(dissensus, gate, folder, monkeypatch):
    whole = dissensus("score", gate, folder)
    monkeypatch.setattr("dissensus.detector.inputs.CHUNK_ROWS", 2)
    assert dissensus("score", gate, folder).out == whole.out
    assert [row["input"] for row in table_of(whole.out)] == [
        "0.png", "2.png", "4.png", "6.png", "deep/1.png", "deep/3.png", "deep/5.png",
    ]  # fmt: skip


def test_an_image_alone_scores_as_in_its_folder(dissensus, gate, folder):
    alone = table_of(dissensus("score", gate, folder / "deep" / "3.png").out)
    among = table_of(dissensus("score", gate, folder).out)[5]
    assert alone == [among | {"input": "3.png"}]


def test_unreadable_images_stand_where_they_belong(dissensus, gate, folder, monkeypatch):
    monkeypatch.setattr("dissensus.detector.inputs.CHUNK_ROWS", 2)
    before = table_of(dissensus("score", gate, folder).out)
    for name in ("00.png", "deep/2.png", "zz.png"):
        (folder / name).write_bytes(b"no picture")
    answer = dissensus("score", gate, folder, "--skip-unreadable")
    rows = table_of(answer.out)
    assert answer.code == 0
    assert "3 unreadable" in answer.err
    names = [row["input"] for row in rows]
    assert names == sorted(names)
    bad = {row["input"]: row for row in rows if row["error"]}
    assert set(bad) == {"00.png", "deep/2.png", "zz.png"}
    assert all(row["score"] == row["p_value"] == row["flagged"] == "" for row in bad.values())
    assert "cannot be read as an image" in bad["zz.png"]["error"]
    assert [r | {"error": ""} for r in before] == [r for r in rows if not r["error"]]


def test_a_picture_that_would_take_minutes_is_named_or_left_out(dissensus, gate, folder):
    (folder / "3.jpg").write_bytes(jpeg_with_scans(5000, 5000))
    answer = dissensus("score", gate, folder)
    assert answer.code == 2
    assert "3.jpg has more than 100 scans" in answer.err
    answer = dissensus("score", gate, folder, "--skip-unreadable")
    assert answer.code == 0
    (bad,) = (row for row in table_of(answer.out) if row["error"])
    assert (bad["input"], "100 scans" in bad["error"]) == ("3.jpg", True)


def test_grey_pictures_are_fine_for_an_rgb_gate(dissensus, fit, folder, tmp_path):
    photographs = tmp_path / "photographs"
    photographs.mkdir()
    for path in folder.rglob("*.png"):
        Image.open(path).convert("RGB").save(photographs / path.name)
    assert fit(photographs, tmp_path / "gate").code == 0
    in_colour = dissensus("score", tmp_path / "gate", photographs, "--json")
    in_grey = dissensus("score", tmp_path / "gate", folder, "--json")
    assert in_colour.code == in_grey.code == 0


def test_resize_at_scoring(dissensus, gate, folder):
    Image.new("L", (20, 30)).save(folder / "large.png")
    assert dissensus("score", gate, folder).code == 2
    assert dissensus("score", gate, folder, "--resize", "8x8", "--json").json["inputs"] == 8


def test_an_older_output_survives_a_failure(dissensus, gate, folder, tmp_path):
    target = tmp_path / "rows.csv"
    target.write_text("precious")
    (folder / "zz.png").write_bytes(b"no picture")
    assert dissensus("score", gate, folder, "-o", target).code == 2
    assert target.read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pictures", "rows.csv"]


def test_names_that_are_no_text(dissensus, gate, folder):
    (folder / "0.png").rename(folder / os.fsdecode(b"caf\xe9.png"))
    answer = dissensus("score", gate, folder)
    assert answer.code == 0
    assert "caf\\udce9.png" in answer.out
