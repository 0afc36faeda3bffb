"""The frontier: what is measured is what is said to be, and the front is one."""

import numpy as np
import pytest

from benchmarks.frontier import sets
from benchmarks.frontier.command import GROUP, SETS
from benchmarks.frontier.points import CALLED, POINTS, THOROUGH
from benchmarks.frontier.sets import LEFT_OUT, selection_set
from benchmarks.frontier.summary import MARGIN, knee, pareto, summaries
from benchmarks.places import RESULTS
from benchmarks.records import Record, Records
from dissensus.detector.effort import EFFORTS
from dissensus.inputs import MADE_UP
from dissensus.inputs.dataset import Dataset


def test_every_selection_set_has_a_record_and_every_record_is_of_one():
    records = Records(RESULTS / "frontier").read(f"{GROUP}-cpu")
    assert sorted(record.name for record in records) == sorted(SETS)
    for record in records:
        told = {name: record.settings[name] for name in SETS[record.name]}
        assert told == SETS[record.name]
        assert {row["point"] for row in record.rows} == set(POINTS)
        assert {row["outliers"] for row in record.rows} == {LEFT_OUT, *MADE_UP}


def test_the_named_efforts_are_those_of_the_detector():
    for name, point in CALLED.items():
        effort, measured = EFFORTS[name], POINTS[point]
        own = {"draws": effort.draws, "chains": effort.chains, "samples": effort.samples}
        assert own == {field: getattr(measured, field) for field in own}


def test_no_image_has_two_roles_and_left_out_clusters_are_in_none_but_theirs(monkeypatch):
    count = 900
    images = np.zeros((count, 4, 4), np.uint8)
    images[:, 0, 0], images[:, 0, 1] = np.divmod(np.arange(count), 256)  # each says which it is
    labels = np.arange(count) % 10
    monkeypatch.setattr(sets, "load_dataset", lambda *_, **__: Dataset(images, labels, "any", "train"))
    monkeypatch.setattr(sets, "cluster_labels", lambda _: labels)
    monkeypatch.setattr(sets, "make_up", lambda _, own, __: own)
    chosen = selection_set("any", (4, 5), fitted=200, inliers=100, outliers=20, seed=0)
    roles = {"fitted": chosen.fitted, "inliers": chosen.inliers, **chosen.outliers}
    seen = {role: own[:, 0, 0].astype(int) * 256 + own[:, 0, 1] for role, own in roles.items()}
    assert {role: len(own) for role, own in seen.items()} == {
        "fitted": 200,
        "inliers": 100,
        **dict.fromkeys([LEFT_OUT, *MADE_UP], 20),
    }
    every = np.concatenate(list(seen.values()))
    assert len(np.unique(every)) == len(every)
    assert set(labels[seen.pop(LEFT_OUT)]) == {4, 5}
    assert not {4, 5} & {int(labels[one]) for own in seen.values() for one in own}


def record(dataset, areas, times):
    rows = [
        {"point": point, "outliers": kind, "auroc": area}
        for point, both in areas.items()
        for kind, area in zip(("noise", "flipped"), both, strict=True)
    ]
    about = {
        "decodings": dict.fromkeys(areas, 8),
        "milliseconds": {point: {"one": time / 10, "batch": time} for point, time in times.items()},
    }
    return Record(dataset, 0, {"dataset": dataset}, rows, {}, about, {})


@pytest.fixture
def records():
    cheap, dear, no_better = "4 draws, one look", THOROUGH, "8 draws, one look"
    one = record(
        "fashion-mnist",
        {cheap: (0.8, 0.6), dear: (0.8, 0.604), no_better: (0.7, 0.6)},
        {cheap: 10.0, dear: 900.0, no_better: 20.0},
    )
    two = record(
        "svhn",
        {cheap: (0.9, 0.5), dear: (0.9, 0.504), no_better: (0.9, 0.5)},
        {cheap: 99.0, dear: 99.0, no_better: 99.0},
    )
    return [one, two]


def test_means_are_over_kinds_and_then_over_sets(records):
    cheap, no_better, dear = summaries(records)
    assert (cheap.name, no_better.name, dear.name) == ("4 draws, one look", "8 draws, one look", THOROUGH)
    assert cheap.mean == pytest.approx((0.7 + 0.7) / 2)
    assert (cheap.worst, cheap.batch, cheap.one) == (0.5, 10.0, 1.0)  # milliseconds are of grey pictures
    assert no_better.loss == pytest.approx(0.702 - 0.65)


def test_the_front_holds_what_nothing_cheaper_equals_and_the_knee_is_as_good_as_all(records):
    points = summaries(records)
    assert [point.name for point in pareto(points)] == ["4 draws, one look", THOROUGH]
    assert knee(points).name == "4 draws, one look"
    assert knee(points).mean >= points[-1].mean - MARGIN


def test_a_point_that_one_set_lacks_is_left_out(records):
    lacking = Record("more", 0, {"dataset": "fashion-mnist"}, [], {}, records[0].about, {})
    assert summaries([*records, lacking]) == []
