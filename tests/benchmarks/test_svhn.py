"""The check of SVHN's files, on made-up files whose difference is known."""

import numpy as np
import pytest

from benchmarks.checks import svhn, svhn_numbers
from benchmarks.checks.asked import Asked
from benchmarks.records import Record, Records
from dissensus.inputs import Dataset

SMALL = {"training": 500, "components_of": 300, "fitting": 60, "calibration": 150, "inliers": 300}


def pictures(count, random, deviation):
    """Squares of one grey each, on noise: the deviation of the greys is all that files can differ in."""
    greys = 128 + deviation * random.normal(size=(count, 1, 1, 1))
    return np.clip(greys + random.normal(0, 8, size=(count, 8, 8, 3)), 0, 255).astype(np.uint8)


@pytest.fixture
def found(monkeypatch):
    """The share of alarms by way and score where test images vary more in brightness."""
    random = np.random.default_rng(0)
    files = {"train": pictures(1500, random, 18), "test": pictures(800, random, 30)}
    monkeypatch.setattr(
        svhn,
        "load_dataset",
        lambda name, split: Dataset(files[split], np.zeros(len(files[split]), np.uint8), name, split),
    )
    monkeypatch.setattr(svhn, "COMPONENTS", 8)
    monkeypatch.setattr(svhn, "QUICK", SMALL)
    piece = next(iter(svhn.pieces(Asked(seeds=(0,), quick=True))))
    result = piece.measure(lambda _: None)
    return {(row["way"], row["score"]): row for row in result.rows}, result.about


def test_each_way_tells_files_that_differ_in_brightness(found):
    rows, about = found
    assert set(rows) == {(way, score) for way in svhn.WAYS for score in svhn.SCORES}
    alarms = {way: rows[way, "gaussian"]["alarms"] for way in svhn.WAYS}
    for mended in ("test file", "pooled", "matched brightness", "matched in all", "normalised"):
        assert alarms[mended] < 0.1, mended
    assert alarms["blocks as inliers"] < 0.1
    for wrong in ("training file", "blocks", "matched contrast"):
        assert alarms[wrong] > 0.12, wrong
    assert alarms["swapped"] < 0.03
    assert rows["training file", "gaussian"]["false"] > 0.12
    assert about["nearness"]["train"]["1"] == pytest.approx(1, abs=0.1)  # no order in these files


def test_blocks_are_whole_and_nothing_beside_one_is_left():
    inside, outside = svhn._blocks(5000, 450, np.random.default_rng(0))
    assert len(inside) == 460
    assert set(inside % svhn.BLOCK) == set(range(svhn.BLOCK))
    gaps = np.abs(np.subtract.outer(inside, outside))
    assert gaps.min() == svhn.BORDER + 1


def test_matching_looks_at_what_it_says():
    image = np.zeros((2, 8, 8, 3), np.uint8)
    image[1, :, 4:] = 100
    brightness, contrast, sharpness = svhn._looks(image).T
    assert brightness.tolist() == [0, 50]
    assert contrast.tolist() == [0, 50]
    assert sharpness.tolist() == [0, pytest.approx(100 / 7)]
    assert abs(float(svhn._normalised(image)[1].mean()) - 128) < 1
    assert float(svhn._normalised(image)[1].std()) == pytest.approx(40, abs=1)


def test_the_table_shows_what_was_measured_and_a_dash_for_the_rest(tmp_path):
    records = Records(tmp_path / "checks")
    rows = [
        {"way": way, "score": score, "alarms": 0.1, "false": 0.17}
        for way in svhn.WAYS
        for score in svhn.SCORES
    ]
    for name, near in (("svhn", 0.7), ("mnist", 1.0)):
        records.add("svhn", Record(name, 0, {}, rows, {}, {"nearness": {"train": {"1": near}}}, {}))
    lines = svhn_numbers.TABLES["svhn"](tmp_path).splitlines()
    assert len(lines) == 2 + len(svhn.WAYS)
    assert lines[2].endswith("| .100 (.170) | – | .100 to .100 | – |")
    assert svhn_numbers.NUMBERS["svhn.svhn.blocks.gaussian.alarms"](tmp_path) == pytest.approx(0.1)
    assert svhn_numbers.NUMBERS["svhn.nearness.train.1"](tmp_path) == 0.7
    assert np.isnan(svhn_numbers.NUMBERS["svhn.cifar10.blocks.gaussian.alarms"](tmp_path))
    assert "svhn, swapped: of test inliers p ≤ 0.05 in 0.100 (1st neighbour)" in " ".join(
        svhn.sentences(records.read("svhn"))[:40]
    )
