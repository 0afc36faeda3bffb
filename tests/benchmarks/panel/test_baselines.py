"""Baselines on the panel's images, in the panel's rows."""

from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from benchmarks.baselines import detectors
from benchmarks.baselines.measure import pictures
from benchmarks.panel import baselines
from benchmarks.panel.baselines import SELECTION, measure_panel, select_candidates
from benchmarks.panel.inputs import load_inputs
from benchmarks.panel.rows import MEASURED, TEST_FILE, TRAINING_FILE, rows_of_scores, to_record
from benchmarks.panel.sets import INLIER_SETS
from benchmarks.panel.tasks import all_rows, panel_sizes
from benchmarks.records import Records
from dissensus.errors import DataError, SettingsError
from dissensus.inputs import MADE_UP
from dissensus.inputs.pictures import PICTURED
from dissensus.scores import Fusion

QUIET = Console(quiet=True)


def measure(where, *names, seeds=(0,), quick=True):
    inliers = [INLIER_SETS[name] for name in names]
    measure_panel(Records(where, quick=quick), inliers, seeds, console=QUIET)


@pytest.fixture
def loaded(monkeypatch):
    """Which images were really read."""
    found = []

    def remember(inliers, sizes, *, seed, purpose):
        found.append((inliers.name, seed, purpose))
        return load_inputs(inliers, sizes, seed=seed, purpose=purpose)

    monkeypatch.setattr(baselines, "load_inputs", remember)
    return found


def test_every_baseline_has_a_record_and_nothing_is_measured_twice(tmp_path, loaded, monkeypatch):
    measure(tmp_path, "mnist", seeds=(0, 1))
    records = Records(tmp_path, quick=True).read("mnist")
    names = [f"baseline/{name}" for name in detectors.BASELINES]
    assert sorted((each.name, each.seed) for each in records) == sorted(
        (name, seed) for name in names for seed in (0, 1)
    )
    for each in records:
        assert [row["outliers"] for row in each.rows] == ["fashion-mnist", "kmnist", "digits", *MADE_UP]
        assert all(0 <= row[name] <= 1 for row in each.rows for name in ("auroc", *TRAINING_FILE, *TEST_FILE))
        assert each.settings["sizes"]["calibration"] == 24
        assert each.settings["sizes"]["test_calibration"] == 36
        assert each.settings["baseline"]["at_most"]
    assert loaded == [("mnist", 0, "test"), ("mnist", 1, "test")]
    measure(tmp_path, "mnist", seeds=(0, 1))
    assert len(loaded) == 2
    # Other settings of one baseline are measured again, and no other baseline is.
    before = {each.name: each.seconds for each in records if each.seed == 0}
    changed = {**detectors.BASELINES, "nearest-neighbour": detectors.NearestNeighbour(neighbour=3)}
    monkeypatch.setattr("benchmarks.baselines.measure.BASELINES", changed)
    measure(tmp_path, "mnist")
    after = {each.name: each for each in Records(tmp_path, quick=True).read("mnist") if each.seed == 0}
    assert after["baseline/nearest-neighbour"].settings["baseline"]["neighbour"] == 3
    assert [name for name in names if after[name].seconds != before[name]] == ["baseline/nearest-neighbour"]
    with pytest.raises(DataError, match="quick"):
        measure(tmp_path, "mnist", quick=False)


def test_image_statistics_have_the_rows_of_the_panel_s_own_fusion_of_them(tmp_path):
    measure(tmp_path, "svhn")
    inputs = load_inputs(INLIER_SETS["svhn"], panel_sizes(quick=True), seed=0)
    fusing = inputs.sections["fusing"]
    alone = {name: each for name, each in inputs.image_statistics.items() if name not in PICTURED}
    fusion = Fusion("mixture").fit({name: each[fusing] for name, each in alone.items()})
    expected = rows_of_scores(
        INLIER_SETS["svhn"],
        inputs.sections,
        {"image-statistics": fusion(alone)},
        posterior="no model",
        recommended_score=None,
        seed=0,
    )
    rows = all_rows(Records(tmp_path, quick=True))
    found = [row for row in rows if row.score == "image-statistics"]
    assert [(row.outliers, row.posterior, row.score) for row in found] == [
        (row.outliers, row.posterior, row.score) for row in expected
    ]
    for name in MEASURED:
        np.testing.assert_allclose(
            [row[name] for row in to_record(found)], [row[name] for row in to_record(expected)], atol=1e-5
        )


def test_neighbours_learn_from_training_images_alone(monkeypatch, tmp_path):
    learnt = []
    fit = detectors.NearestNeighbour.fit
    monkeypatch.setattr(
        detectors.NearestNeighbour,
        "fit",
        lambda self, inputs, *, seed: learnt.append(inputs) or fit(self, inputs, seed=seed),
    )
    measure(tmp_path, "mnist")
    inputs = load_inputs(INLIER_SETS["mnist"], panel_sizes(quick=True), seed=0)
    np.testing.assert_array_equal(learnt[0], pictures(inputs.training))


def test_candidates_are_compared_on_training_images_in_groups_of_their_own(tmp_path, loaded, monkeypatch):
    few = {name: baselines.CANDIDATES[name] for name in ("nearest-neighbour", "isolation-forest, 64")}
    monkeypatch.setattr(baselines, "CANDIDATES", few)
    records = Records(tmp_path, quick=True)
    select_candidates(records, [INLIER_SETS["mnist"]], [0], console=QUIET)
    assert loaded == [("mnist", 0, "selection")]
    rows = list(all_rows(records, SELECTION))
    assert {row.score for row in rows} == set(few)
    assert {row.outliers for row in rows} == set(MADE_UP)
    assert records.groups() == ["baseline-selection-mnist"]
    assert not list(all_rows(records))
    held_out = [INLIER_SETS["fashion-mnist-heldout-01"]]
    with pytest.raises(SettingsError, match="whole datasets"):
        select_candidates(records, held_out, [0], console=QUIET)


def test_what_is_measured_is_among_what_was_compared():
    # On as many images as candidates were compared on, no bound on their number was felt.
    compared = [replace(each, at_most=0) for each in baselines.CANDIDATES.values()]
    for name, each in detectors.BASELINES.items():
        assert name == "image-statistics" or replace(each, at_most=0) in compared
