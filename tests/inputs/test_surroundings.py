"""What training rows tell of a row: against brute force, and for rows of every sort."""

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.covariance import LedoitWolf
from sklearn.datasets import make_moons

from dissensus.errors import ArtifactError
from dissensus.evaluation import auroc
from dissensus.inputs import surroundings
from dissensus.inputs.gaussians import Gaussians
from dissensus.inputs.surroundings import NEIGHBOURS, Surroundings


def seeded():
    return np.random.default_rng(0)


def normal(*shape, seed=1):
    return np.random.default_rng(seed).normal(size=shape)


def distances(one, other):
    return np.sqrt(((one[:, None].astype(np.float64) - other[None].astype(np.float64)) ** 2).sum(axis=-1))


def test_of_columns_they_are_those_of_brute_force():
    rows, asked = normal(120, 4).astype(np.float32), normal(30, 4, seed=2).astype(np.float32)
    found = Surroundings.of_columns(np.concatenate([rows, rows[:40]]), seeded()).of(asked)
    between = distances(asked, rows)
    np.testing.assert_allclose(found["nearest"], np.log(between.min(axis=1)), atol=1e-5)
    own = distances(rows, rows)
    np.fill_diagonal(own, np.inf)
    spacing = np.sort(own, axis=1)[:, :NEIGHBOURS].mean(axis=1)
    order = np.argsort(between, axis=1)[:, :NEIGHBOURS]
    ratio = np.take_along_axis(between, order, 1).mean(axis=1) / spacing[order].mean(axis=1)
    np.testing.assert_allclose(found["isolation"], np.log(ratio), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("rows", "columns"), [(40, 300), (400, 150)])
def test_of_long_rows_they_are_almost_those_of_the_whole_space(rows, columns):
    """Whitened by scikit-learn's Ledoit–Wolf, without leaving out a direction."""
    mixing = normal(columns, columns, seed=3) * np.linspace(3, 0.1, columns)[:, None]
    X, asked = normal(rows, columns) @ mixing, normal(50, columns, seed=2) @ mixing
    asked[:25] *= 3
    own = Surroundings.of_vectors(X, seeded())
    assert own.rows.shape == (rows, min(64, rows - 1))
    found = own.of_rows(asked, asked)
    exact = LedoitWolf().fit(X)
    lengths = 0.5 * exact.mahalanobis(asked)
    assert np.corrcoef(found["gaussians"], lengths)[0, 1] > 0.97
    white = np.linalg.cholesky(exact.precision_)
    nearest = np.log(distances(asked @ white, X @ white).min(axis=1))
    assert np.corrcoef(found["nearest"], nearest)[0, 1] > 0.97
    assert np.abs(found["nearest"] - nearest).max() < 0.35


@pytest.mark.parametrize("columns", [3, 20, 100])
def test_a_row_has_the_same_bits_in_any_company(columns):
    rows, asked = normal(200, columns), normal(60, columns, seed=2)
    seen = asked.astype(np.float32)
    own = learnt(rows)
    found = own.of_rows(asked, seen)
    order = np.random.default_rng(3).permutation(len(asked))
    again = own.of_rows(asked[order], seen[order])
    for name, values in found.items():
        np.testing.assert_array_equal(again[name], values[order])
        for n in (0, 31, 59):
            assert own.of_rows(asked[n : n + 1], seen[n : n + 1])[name] == values[n]


def learnt(rows):
    wide = surroundings.is_wide(rows.shape[1])
    return (
        Surroundings.of_vectors(rows, seeded())
        if wide
        else Surroundings.of_columns(rows.astype(np.float32), seeded())
    )


@pytest.mark.parametrize("columns", [3, 100])
@pytest.mark.parametrize("rows", [1, 2, 3, 12])
@pytest.mark.parametrize("kind", ["normal", "all alike", "constant columns", "one scale off"])
def test_everything_is_finite(kind, rows, columns):
    X = normal(rows, columns)
    if kind == "all alike":
        X[:] = X[0]
    elif kind == "constant columns":
        X[:, 1:] = 5.0
    elif kind == "one scale off":
        X[:, 0] *= 1e6
    asked = np.concatenate([X, X + 1, 1e4 * X, np.full((1, columns), 1e200), np.full((1, columns), -1e300)])
    own = learnt(X)
    found = own.of_rows(asked, np.clip(asked, -1e4, 1e4).astype(np.float32))
    for name, values in found.items():
        assert np.isfinite(values).all(), name
    if kind == "normal":
        assert (found["nearest"][-2:] > found["nearest"][:-2].max() - 1e-6).all()


def test_what_is_kept_is_bounded(monkeypatch):
    monkeypatch.setattr(surroundings, "MOST_ROWS", 50)
    for columns in (5, 90):
        own = learnt(normal(200, columns))
        assert own.rows.shape == (50, min(columns, 64))
        assert own.rows.dtype == np.float32
        np.testing.assert_array_equal(own.rows, learnt(normal(200, columns)).rows)  # by the seed


def test_neighbours_see_what_one_gaussian_does_not():
    moons = make_moons(600, noise=0.05, random_state=0)[0]
    moons = (moons - moons.mean(axis=0)) / moons.std(axis=0)
    middle = np.random.default_rng(4).uniform(-1.5, 1.5, size=(400, 2))
    between = middle[distances(middle, moons).min(axis=1) > 0.35]
    found, usual = (learnt(moons[:300]).of(x.astype(np.float32)) for x in (between, moons[300:]))
    mahalanobis = [(x**2).sum(axis=1) for x in (moons[300:], between)]
    assert auroc(*mahalanobis) < 0.6
    for name in found:
        assert auroc(usual[name], found[name]) > 0.95, name


@pytest.mark.parametrize("columns", [4, 100])
def test_they_come_back_from_arrays(columns):
    X = normal(150, columns)
    own, seen = learnt(X), X.astype(np.float32)
    again = Surroundings.restore(own.arrays(), columns=columns, projected=None)
    for name, values in own.of_rows(X, seen).items():
        np.testing.assert_array_equal(again.of_rows(X, seen)[name], values)
    assert Surroundings.restore({}, columns=columns, projected=None) is None


@pytest.mark.parametrize("columns", [4, 100])
def test_arrays_that_no_fit_left_are_refused(columns):
    arrays = learnt(normal(80, columns)).arrays()
    for name, array in arrays.items():
        changes = [
            array.astype(np.float64 if array.dtype == np.float32 else np.float32),
            array[None],
            np.concatenate([array, array]),
            np.full_like(array, np.nan),
        ]
        if name.endswith(("spacing", "lengths", "scales", "noise")):
            changes.append(-1 - array)
        without = {other: arrays[other] for other in arrays if other != name}
        for wrong in (without, *({**arrays, name: changed} for changed in changes)):
            with pytest.raises(ArtifactError, match="training rows that it keeps"):
                Surroundings.restore(wrong, columns=columns, projected=None)
    with pytest.raises(ArtifactError, match="training rows that it keeps"):
        Surroundings.restore({**arrays, "surroundings/more": np.zeros(1)}, columns=columns, projected=None)
    with pytest.raises(ArtifactError, match="training rows that it keeps"):
        Surroundings.restore(arrays, columns=columns + 1, projected=None)


@pytest.mark.parametrize(("rows", "columns"), [(30, 4), (300, 4), (200, 64)])
def test_the_density_is_that_of_a_mixture(rows, columns):
    own = Gaussians.fit(normal(rows, columns).astype(np.float32), rows, seeded())
    assert len(own.means) == max(1, rows // 50)
    asked = 2 * normal(20, columns, seed=2).astype(np.float32)
    logs = [
        constant - 0.5 * ((asked - mean) @ whitener.T @ whitener * (asked - mean)).sum(axis=1)
        for constant, mean, whitener in zip(own.log_weights, own.means, own.whiteners, strict=True)
    ]
    np.testing.assert_allclose(own(asked), -logsumexp(logs, axis=0), rtol=1e-6)
    if columns == 4:  # it is a density: its mean over a box is one over the box's volume
        grid = np.random.default_rng(3).uniform(-6, 6, size=(200_000, 4)).astype(np.float32)
        assert np.exp(-own(grid)).mean() * 12**4 == pytest.approx(1, abs=0.15)
