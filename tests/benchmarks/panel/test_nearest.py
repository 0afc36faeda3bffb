import numpy as np
import pytest

from benchmarks.panel.inputs import load_inputs
from benchmarks.panel.nearest import NearestNeighbour, neighbour_distances
from benchmarks.panel.sets import INLIER_SETS
from benchmarks.panel.tasks import panel_sizes


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
