"""Settings for the held-out classes are chosen on clusters of training images, by a rule that is fixed."""

import numpy as np
import pytest

from benchmarks import clusters as all_clusters
from benchmarks.clusters import PAIRS, cluster_labels
from benchmarks.paper import cluster_selection, clusters
from benchmarks.paper.benchmarks import Sizes
from benchmarks.paper.cluster_selection import (
    CANDIDATES,
    PLAN,
    Plan,
    chosen_preset,
    cluster_grids,
    cluster_tasks,
)
from benchmarks.paper.clusters import DATASET, load_clusters
from benchmarks.paper.presets import BenchPreset
from benchmarks.records import Record, Records

TINY = Sizes(training=40, test=6, validation=4, typical=0)


@pytest.fixture(autouse=True)
def small(monkeypatch, tiny_world):
    asked, tiny = [], clusters.load_dataset

    def load(name, split="train"):
        asked.append((name, split))
        return tiny(name, split)

    for module in (clusters, all_clusters):
        monkeypatch.setattr(module, "load_dataset", load)
    monkeypatch.setattr(cluster_selection, "QUICK", TINY)
    cluster_labels.cache_clear()
    yield asked
    cluster_labels.cache_clear()


def rows(images):
    return {image.numpy().tobytes() for image in images}


@pytest.mark.parametrize("pair", PAIRS)
def test_only_training_images_are_read_and_what_is_left_out_is_never_trained_on(small, pair):
    inputs = load_clusters(pair, TINY, seed=0)
    assert set(small) == {("fashion-mnist", "train")}
    parts = [rows(each) for each in (inputs.training, inputs.validation, inputs.inliers, inputs.outliers)]
    assert sum(map(len, parts)) == len(set().union(*parts))
    assert len(inputs.inliers) == len(inputs.outliers) > 0
    images = clusters.load_dataset("fashion-mnist").images
    unknown = {image.tobytes() for image in images[np.isin(cluster_labels(DATASET), pair)]}
    assert parts[3] <= unknown
    assert not unknown & (parts[0] | parts[1] | parts[2])


def test_clusters_are_numbered_by_size():
    sizes = np.bincount(cluster_labels(DATASET), minlength=10)
    assert list(sizes) == sorted(sizes, reverse=True)
    assert sizes.sum() == 120


def test_a_training_gives_a_row_for_every_k_and_number_of_draws(tmp_path, monkeypatch):
    from rich.console import Console

    from benchmarks.runner import measure
    from dissensus.detector.settings import find_device

    tiny = BenchPreset(
        "tiny", step_size=1e-3, epochs=5, burn_in=2, chains=2, batch_size=20, latent_size=2, widths=(2, 4)
    )
    monkeypatch.setattr(cluster_selection, "CANDIDATES", {"tiny": tiny})
    monkeypatch.setattr(cluster_selection, "PAIRS", PAIRS[:1])
    monkeypatch.setattr(cluster_selection, "QUICK_PLAN", Plan(scored=((2, 4), (3, 2)), draws=(1, 2, 4, 9)))
    records, device = Records(tmp_path / "records", quick=True), find_device("cpu")
    failed = measure(
        records, cluster_tasks([0], quick=True), cache=tmp_path, device=device, console=Console(quiet=True)
    )
    assert failed == []
    (record,) = records.read("selection-clusters")
    assert record.name == "tiny/01"
    assert [(row["samples"], row["draws"]) for row in record.rows] == [(2, 1), (2, 2), (2, 4), (3, 1), (3, 2)]
    assert all(0 <= row["ess"] <= 1 for row in record.rows)


def add(records, name, rows):
    columns = ("draws", "samples", "ess")
    records.add(
        "selection-clusters", Record(name, 0, {}, [dict(zip(columns, row, strict=True)) for row in rows], {})
    )


def test_the_highest_mean_over_pairs_of_those_measured_on_all_is_chosen(tmp_path):
    records = Records(tmp_path)
    assert chosen_preset(records) is None
    assert cluster_grids(records) == []
    add(records, "as elsewhere/01", [(10, 32, 0.6), (100, 32, 0.7)])
    add(records, "as elsewhere/45", [(10, 32, 0.6), (100, 32, 0.7)])
    add(records, "latent_size=20/01", [(25, 128, 0.9)])
    add(records, "latent_size=20/45", [(25, 128, 0.52)])
    add(records, "latent_size=10/01", [(25, 128, 0.99)])  # on one pair alone
    preset = chosen_preset(records)
    assert (preset.latent_size, preset.samples) == (20, 128)
    assert preset.sampling("bvae1").draws == 25 * preset.chains
    table, written = cluster_grids(records)
    assert table.lines[0][0] == "latent_size=20, 25 draws a chain, K = 128 (chosen)"
    assert eval(written.lines[0][0], {"BenchPreset": BenchPreset}) == preset


def test_every_candidate_keeps_the_draws_that_are_compared_on_it():
    for name, preset in CANDIDATES.items():
        kept = preset.sampling("bvae1").kept_epochs
        assert kept == (100 if name == "as elsewhere" else 25)
    assert {K for K, _ in PLAN.scored} == {32, 128, 512}
    assert PLAN.draws == (10, 25, 100)
