import numpy as np
import pytest

from benchmarks.panel.inputs import load_inputs
from benchmarks.panel.nearest import NearestNeighbour, neighbour_distances
from benchmarks.panel.rows import Row
from benchmarks.panel.runner import panel_sizes
from benchmarks.panel.sets import INLIER_SETS
from benchmarks.panel.table import baseline_grid


@pytest.mark.parametrize("name", ["mnist", "svhn"])
@pytest.mark.parametrize(("neighbour", "components"), [(1, 3), (5, 20)])
def test_the_score_is_the_distance_to_the_kth_nearest_training_image(name, neighbour, components):
    inputs = load_inputs(INLIER_SETS[name], panel_sizes(quick=True), seed=2)
    training, scored = (each.flatten(1).double().numpy() / 255 for each in (inputs.training, inputs.scored))
    centre = training.mean(axis=0)
    _, _, directions = np.linalg.svd(training - centre, full_matrices=False)
    places, centres = ((each - centre) @ directions[:components].T for each in (scored, training))
    apart = np.linalg.norm(places[:, None] - centres[None], axis=-1)
    expected = np.sort(apart, axis=1)[:, neighbour - 1]
    found = neighbour_distances(NearestNeighbour(neighbour, components), inputs)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


def test_the_same_images_have_the_same_distances_every_time():
    inputs = load_inputs(INLIER_SETS["mnist"], panel_sizes(quick=True), seed=0)
    once, again = (neighbour_distances(NearestNeighbour(), inputs) for _ in range(2))
    assert np.array_equal(once, again)


def row(score, auroc, power, false, *, seed=0, posterior="sghmc"):
    return Row(
        inliers="svhn",
        outliers="cifar10",
        kind="far",
        posterior=posterior,
        score=score,
        recommended=score == "fused",
        seed=seed,
        auroc=auroc,
        fpr80_in=0.0,
        fpr95_in=0.0,
        bh_power=power,
        bh_false=false,
        n_in=9,
        n_out=9,
    )


def test_power_stands_beside_the_realised_false_discovery_share_and_seeds_are_the_same():
    rows = [
        row("fused", 0.98, 0.8, 0.15),
        row("fused", 0.5, 0.1, 0.9, seed=1),  # nearest neighbours were not measured with this seed
        row("fused-images", 0.95, 0.5, 0.1),
        row("fused-images", 0.2, 0.2, 0.2, posterior="swag"),
    ]
    grid = baseline_grid("", rows, [row("nearest-neighbour", 0.9, 0.25, 0.05, posterior="none")])
    assert grid.lines == (
        ("svhn → cifar10", "far", ".980", ".950", ".900", ".800 / .150", ".500 / .100", ".250 / .050"),
    )
