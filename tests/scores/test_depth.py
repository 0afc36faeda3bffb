"""Each notion of far against its formula."""

import numpy as np
import pytest
from scipy import stats
from threadpoolctl import threadpool_info, threadpool_limits

from dissensus.errors import DataError
from dissensus.scores._depth import DEPTHS, LEAST_SHRINKAGE, GaussianDepth, MixtureDepth


def fitted(make, z):
    depth = make()
    depth.fit(z)
    return depth


every_depth = pytest.mark.parametrize("make", DEPTHS.values(), ids=DEPTHS)


def cloud(count=400, size=3, seed=0):
    rng = np.random.default_rng(seed)
    mixed = rng.normal(size=(count, size)) @ np.random.default_rng(9).normal(size=(size, size))
    return mixed / np.sqrt((mixed**2).mean(axis=0))


def test_gaussian_is_the_mahalanobis_distance_with_schaefer_and_strimmer_s_correlation():
    z = cloud()
    n, J = z.shape
    x = z / np.sqrt((z**2).mean(axis=0))
    R = np.eye(J)
    numerator = denominator = 0.0
    for i in range(J):
        for j in range(J):
            if i != j:
                w = x[:, i] * x[:, j]
                R[i, j] = w.mean()
                numerator += ((w - w.mean()) ** 2).sum() / n**2
                denominator += R[i, j] ** 2
    shrinkage = max(numerator / denominator, LEAST_SHRINKAGE)
    assert shrinkage < 1
    inverse = np.linalg.inv((1 - shrinkage) * R + shrinkage * np.eye(J))
    points = cloud(seed=1) * 4
    expected = [point @ inverse @ point for point in points]
    np.testing.assert_allclose(fitted(GaussianDepth, z)(points), expected, rtol=1e-9)


def test_independent_statistics_are_left_independent():
    z = np.random.default_rng(0).normal(size=(30, 8))
    points = cloud(size=8, seed=1)
    found = fitted(GaussianDepth, z)(points)
    np.testing.assert_allclose(found, (points**2).sum(axis=1), rtol=0.5)


def test_mixture_is_a_normalised_density_that_fits_two_clouds():
    rng = np.random.default_rng(0)
    z = np.concatenate([rng.normal(-2, 0.5, size=(300, 2)), rng.normal(2, 0.5, size=(300, 2))])
    depth = fitted(MixtureDepth, z)
    side = np.linspace(-8, 8, 401)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    assert np.exp(-depth(grid)).sum() * (side[1] - side[0]) ** 2 == pytest.approx(1.0, rel=1e-6)
    between, within = depth(np.array([[0.0, 0.0], [2.0, 2.0]]))
    assert between > within + 3
    law = [stats.multivariate_normal(m, 0.25 * np.eye(2)).pdf(z) for m in ([-2, -2], [2, 2])]
    assert np.mean(depth(z)) == pytest.approx(-np.mean(np.log(np.mean(law, axis=0))), abs=0.1)


@every_depth
def test_far_points_keep_their_order(make):
    depth = fitted(make, cloud())
    direction = np.array([[1.0, -2.0, 0.5]])
    distances = depth(direction * np.geomspace(5, 1e6, 200)[:, None])
    assert (np.diff(distances) > 0).all()


@every_depth
def test_a_point_counts_for_itself(make):
    depth, points = fitted(make, cloud()), cloud(9, seed=1)
    alone = np.concatenate([depth(points[n : n + 1]) for n in range(9)])
    np.testing.assert_allclose(alone, depth(points), rtol=1e-12)


@every_depth
@pytest.mark.parametrize(
    "z",
    [np.zeros((1, 2)), np.zeros((50, 2)), cloud(4, 9), np.repeat(cloud(60, 1), 3, axis=1)],
    ids=["one", "all alike", "fewer than statistics", "copies"],
)
def test_degenerate_inliers(make, z):
    depth = fitted(make, z)
    near, far = depth(np.stack([z[0], z[0] + 8.0 * (-1.0) ** np.arange(z.shape[1])]))
    assert np.isfinite([near, far]).all()
    assert far > near + 1


@every_depth
def test_it_survives_its_state(make):
    depth, points = fitted(make, cloud()), cloud(seed=1)
    np.testing.assert_array_equal(make().restore(depth.state())(points), depth(points))


@every_depth
def test_a_foreign_state_is_refused(make):
    state = fitted(make, cloud()).state()
    some = next(iter(state))
    for damaged in (
        {},
        state | {"more": np.zeros(1)},
        state | {some: np.full_like(state[some], np.nan)},
        state | {some: np.zeros(0)},
        state | {"whitener" if "whitener" in state else "means": np.zeros((2, 5))},
    ):
        with pytest.raises(DataError, match="fit again"):
            make().restore(damaged)


@every_depth
@pytest.mark.parametrize("count", [1, 7, 300, 2500])
def test_inliers_are_as_far_from_the_others_as_fresh_ones(make, count):
    depth = make()
    own = depth.fit(cloud(count))
    assert own.shape == (count,)
    assert np.isfinite(own).all()
    if count >= 300:
        assert stats.ks_2samp(own, depth(cloud(3000, seed=1))).pvalue > 1e-3


def test_a_mixture_is_fitted_on_one_thread_and_others_get_theirs_back(monkeypatch):
    """Threads that wait for each other over matrices this small take a minute on a busy machine."""
    seen, fit = [], MixtureDepth._fit

    def threads():
        return {pool["num_threads"] for pool in threadpool_info()}

    monkeypatch.setattr(MixtureDepth, "_fit", lambda self, z: seen.append(threads()) or fit(self, z))
    with threadpool_limits(2):
        before = threads()
        MixtureDepth().fit(np.random.default_rng(0).normal(size=(60, 2)))
        assert threads() == before
    assert seen
    assert all(each == {1} for each in seen)
