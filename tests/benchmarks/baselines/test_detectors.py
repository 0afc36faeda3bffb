"""Each simple detector against a plain transcription of what it says it does, or a planted outlier."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from benchmarks.baselines.detectors import (
    BASELINES,
    GaussianMixture,
    ImageStatistics,
    IsolationForest,
    NearestNeighbour,
    baseline_settings,
)
from dissensus.evaluation import auroc
from dissensus.inputs import image_statistics
from dissensus.scores import Fusion

random = np.random.default_rng(0)
MIXING = random.normal(size=(12, 12))
TRAINING, ASKED = random.normal(size=(90, 12)) @ MIXING, 2 * random.normal(size=(40, 12)) @ MIXING


def principal(rows, components, *, whiten=False):
    """A function to the leading components of rows, by the singular values of the centred rows."""
    centre = rows.mean(axis=0)
    _, sizes, directions = np.linalg.svd(rows - centre, full_matrices=False)
    scale = sizes[:components] / np.sqrt(len(rows) - 1) if whiten else 1.0
    return lambda asked: (asked - centre) @ directions[:components].T / scale


def pictures(count, *, colour=False, seed=0):
    """Bright squares of any place on noise."""
    own = np.random.default_rng(seed)
    images = own.integers(0, 40, size=(count, 16, 16, 3 if colour else 1))
    for image, (down, across) in zip(images, own.integers(0, 8, size=(count, 2)), strict=True):
        image[down : down + 8, across : across + 8] += 150
    return images.astype(np.uint8)


@pytest.mark.parametrize(("neighbour", "components"), [(1, 3), (5, 8), (5, 12)])
@pytest.mark.parametrize("whiten", [False, True])
def test_the_distance_to_the_kth_nearest_training_row(neighbour, components, whiten):
    project = principal(TRAINING, components, whiten=whiten)
    apart = np.linalg.norm(project(ASKED)[:, None] - project(TRAINING)[None], axis=-1)
    expected = np.sort(apart, axis=1)[:, neighbour - 1]
    found = NearestNeighbour(neighbour, components, whiten).fit(TRAINING, seed=0)(ASKED)
    np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_one_gaussian_is_the_density_of_mean_and_covariance():
    project = principal(TRAINING, 4)
    known = project(TRAINING)
    law = multivariate_normal(known.mean(axis=0), np.cov(known.T, bias=True) + 1e-6 * np.eye(4))
    found = GaussianMixture(components=4, inputs_a_part=90).fit(TRAINING, seed=0)(ASKED)
    np.testing.assert_allclose(found, -law.logpdf(project(ASKED)), rtol=1e-4)


def test_a_mixture_finds_what_lies_between_two_clusters():
    away = np.zeros(12)
    away[0] = 50.0
    clusters = np.concatenate([TRAINING - away, TRAINING + away])
    scores = GaussianMixture(parts=2, components=2).fit(clusters, seed=0)(np.stack([away, 0 * away, -away]))
    assert scores.argmax() == 1
    # One Gaussian would think the middle the most usual of all.
    one = GaussianMixture(parts=1, components=2).fit(clusters, seed=0)(np.stack([away, 0 * away, -away]))
    assert one.argmin() == 1


@pytest.mark.parametrize("components", [None, 5])
def test_few_cuts_set_a_planted_row_apart(components):
    planted = np.concatenate([TRAINING, TRAINING.mean(axis=0, keepdims=True) + 100.0])
    scores = IsolationForest(components=components).fit(TRAINING, seed=0)(planted)
    assert scores.argmax() == len(TRAINING)
    assert 0.0 < scores.min() < scores.max() < 1.0  # as Liu et al. define it, 1 is the most unusual


@pytest.mark.parametrize("colour", [False, True])
def test_image_statistics_are_fused_as_the_detector_fuses(colour):
    inliers, asked = pictures(60, colour=colour), pictures(9, colour=colour, seed=1)
    expected = Fusion("mixture").fit(image_statistics(inliers))(image_statistics(asked))
    found = ImageStatistics().fit(inliers, seed=0)(asked)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", BASELINES)
def test_noise_among_pictures_is_found_and_chance_is_the_seed_s(name):
    inliers, noise = pictures(300), np.random.default_rng(2).integers(0, 256, (50, 16, 16, 1), np.uint8)
    asked = np.concatenate([pictures(50, seed=1), noise])
    # A small forest and few pictures learnt from, so that chance has a say.
    baseline = replace(BASELINES[name], at_most=200)
    once, again, other = (baseline.fit(inliers, seed=seed)(asked) for seed in (0, 0, 1))
    assert auroc(once[:50], once[50:]) > 0.99
    np.testing.assert_array_equal(once, again)
    assert not np.array_equal(once, other)
    assert (once.shape, once.dtype) == ((100,), np.float64)


@pytest.mark.parametrize("name", BASELINES)
def test_all_are_learnt_from_where_they_are_few(name):
    inliers, asked = pictures(70), pictures(9, seed=1)
    same = [replace(BASELINES[name], at_most=n).fit(inliers, seed=0)(asked) for n in (70, 10_000)]
    np.testing.assert_array_equal(*same)


@pytest.mark.parametrize("name", BASELINES)
def test_the_settings_say_how_many_are_learnt_from(name):
    settings = baseline_settings(BASELINES[name])
    assert settings["at_most"] <= 100_000
    assert settings["learns_from"] in ("training", "held-out")
