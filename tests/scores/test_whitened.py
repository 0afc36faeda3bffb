"""Whitened disagreement: against its definition, its symmetries, and inliers too few or too alike."""

import mpmath
import numpy as np
import pytest
from scipy import stats

from dissensus.errors import DataError, SettingsError
from dissensus.evaluation import auroc
from dissensus.scores import Whitened, std_of_log_likelihood


def inliers(draws=6, count=400, seed=0):
    """Log-likelihoods with a disagreement of very different size from draw to draw, and heavy tails."""
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(draws, draws)) * np.geomspace(0.05, 5.0, draws)
    common = rng.normal(-100.0, 20.0, size=count)
    return common + mixing @ rng.standard_t(5, size=(draws, count))


def exact(fitting, columns):
    """The definition in 60 digits, with the pseudo-inverse over the directions that sum to zero."""
    with mpmath.workdps(60):
        M, N = fitting.shape

        def leads(matrix):
            l = mpmath.matrix(matrix.tolist())  # noqa: E741
            for n in range(l.cols):
                mean = mpmath.fsum(l[:, n]) / M
                for m in range(M):
                    l[m, n] -= mean
            return l

        d = leads(fitting)
        centre = [mpmath.fsum(d[m, :]) / N for m in range(M)]
        for m in range(M):
            for n in range(N):
                d[m, n] -= centre[m]
        S = d * d.T / N
        v = mpmath.fsum(S[m, m] for m in range(M)) / (M - 1)
        P = mpmath.eye(M) - mpmath.ones(M) / M
        products = mpmath.mpf(0)
        for n in range(N):
            one = d[:, n] * d[:, n].T - S
            products += mpmath.fsum(one[i, j] ** 2 for i in range(M) for j in range(M))
        distance = mpmath.fsum((S[i, j] - v * P[i, j]) ** 2 for i in range(M) for j in range(M))
        shrinkage = max(mpmath.mpf("0.01"), products / N**2 / distance) if distance > 1e-40 else mpmath.mpf(1)
        shrinkage = min(mpmath.mpf(1), shrinkage)
        sigma = (1 - shrinkage) * S + shrinkage * v * P
        # An orthonormal basis of the directions that sum to zero: Helmert's.
        basis = mpmath.matrix(M, M - 1)
        for k in range(1, M):
            length = mpmath.sqrt(k * (k + 1))
            for m in range(k):
                basis[m, k - 1] = 1 / length
            basis[k, k - 1] = -k / length
        inverse = (basis.T * sigma * basis) ** -1
        found = []
        e = leads(columns)
        for n in range(columns.shape[1]):
            x = basis.T * (e[:, n] - mpmath.matrix(centre))
            found.append(float(mpmath.sqrt((x.T * inverse * x)[0] / (M - 1))))
        return np.array(found)


@pytest.mark.parametrize(("draws", "count"), [(2, 30), (5, 40), (8, 9)])
def test_equals_its_definition_in_high_precision(draws, count):
    fitting, columns = inliers(draws, count), inliers(draws, 7, seed=1) * 3.0
    np.testing.assert_allclose(Whitened().fit(fitting)(columns), exact(fitting, columns), rtol=1e-9)


def test_inliers_score_about_one():
    rng = np.random.default_rng(0)
    fitting, fresh = (rng.normal(size=(6, 4000)) * np.arange(1.0, 7.0)[:, None] for _ in range(2))
    assert np.mean(Whitened().fit(fitting)(fresh) ** 2) == pytest.approx(1.0, rel=0.05)


def test_a_constant_for_each_input_and_for_each_draw_changes_nothing():
    fitting, columns = inliers(), inliers(seed=1, count=50)
    rng = np.random.default_rng(2)
    expected = Whitened().fit(fitting)(columns)
    shifted = Whitened().fit(fitting + rng.normal(size=400) * 900)(columns + rng.normal(size=50) * 900)
    np.testing.assert_allclose(shifted, expected, rtol=1e-8)
    by_draw = rng.normal(size=(6, 1)) * 50
    np.testing.assert_allclose(Whitened().fit(fitting + by_draw)(columns + by_draw), expected, rtol=1e-8)


@pytest.mark.parametrize("factor", [1e-3, 7.0, 1e6])
def test_a_factor_common_to_inliers_and_inputs_changes_nothing(factor):
    fitting, columns = inliers(), inliers(seed=1, count=50)
    expected = Whitened().fit(fitting)(columns)
    np.testing.assert_allclose(Whitened().fit(factor * fitting)(factor * columns), expected, rtol=1e-8)


def test_the_order_of_draws_and_of_inliers_does_not_matter():
    fitting, columns = inliers(), inliers(seed=1, count=50)
    rng = np.random.default_rng(3)
    order = rng.permutation(6)
    permuted = Whitened().fit(rng.permutation(fitting, axis=1)[order])(columns[order])
    np.testing.assert_allclose(permuted, Whitened().fit(fitting)(columns), rtol=1e-8)


def test_it_hears_a_pattern_that_the_spread_does_not():
    """Outliers that disagree less than inliers do, but between draws that always agree."""
    rng = np.random.default_rng(0)
    scale = np.array([[9.0], [9.0], [0.1], [0.1]])
    fitting, fresh = (rng.normal(size=(4, 2000)) * scale for _ in range(2))
    odd = rng.normal(size=(4, 2000)) * scale + np.array([[0.0], [0.0], [3.0], [-3.0]])
    whitened = Whitened().fit(fitting)
    assert auroc(std_of_log_likelihood(fresh), std_of_log_likelihood(odd)) < 0.6
    assert auroc(whitened(fresh), whitened(odd)) > 0.95


@pytest.mark.parametrize("count", [3, 8, 20])
def test_few_inliers_do_not_make_fresh_ones_strange(count):
    """An unregularised covariance of fewer inliers than draws would put fresh ones infinitely far."""
    fitting, fresh = inliers(draws=20, count=count), inliers(draws=20, count=500)
    whitened = Whitened().fit(fitting)
    spread = std_of_log_likelihood(fresh) / std_of_log_likelihood(fitting).mean()
    assert np.median(whitened(fresh)) < 10 * np.median(spread)
    far = fresh + 100 * np.random.default_rng(1).normal(size=fresh.shape)
    assert auroc(whitened(fresh), whitened(far)) > 0.99


def test_fresh_inliers_score_like_those_it_was_fitted_on():
    whitened = Whitened().fit(inliers(count=3000)[:, :1500])
    own, fresh = whitened(inliers(count=3000)[:, :1500]), whitened(inliers(count=3000)[:, 1500:])
    assert stats.ks_2samp(own, fresh).pvalue > 1e-3


@pytest.mark.parametrize("fitting", [np.full((3, 5), -2.0), np.array([[-1.0], [-5.0], [-2.0]])])
def test_inliers_all_alike_leave_the_plain_spread(fitting):
    columns = np.array([[0.0, -1.0], [0.0, -4.0], [0.0, -7.0]])
    d = columns - columns.mean(axis=0) - (fitting - fitting.mean(axis=0)).mean(axis=1)[:, None]
    expected = np.linalg.norm(d, axis=0) / np.sqrt(2)
    np.testing.assert_allclose(Whitened().fit(fitting)(columns), expected, rtol=1e-12)


def test_a_draw_that_rules_inputs_out_is_infinite_when_scored_and_left_out_when_fitted():
    fitting, columns = inliers(), inliers(seed=1, count=3)
    columns[2, 1] = -np.inf
    found = Whitened().fit(fitting)(columns)
    assert np.isinf(found).tolist() == [False, True, False]
    with_lost = fitting.copy()
    with_lost[0, 7] = -np.inf
    np.testing.assert_array_equal(
        Whitened().fit(with_lost)(columns), Whitened().fit(np.delete(fitting, 7, axis=1))(columns)
    )
    with pytest.raises(DataError, match="no draw rules out"):
        Whitened().fit(np.array([[0.0], [-np.inf]]))


def test_it_survives_its_state():
    fitted = Whitened().fit(inliers())
    again = Whitened().restore(fitted.state())
    np.testing.assert_array_equal(again(inliers(seed=1)), fitted(inliers(seed=1)))


def test_it_must_be_fitted_first_and_on_as_many_draws():
    for call in (lambda: Whitened()(np.zeros((2, 2))), lambda: Whitened().state()):
        with pytest.raises(SettingsError, match="call fit"):
            call()
    with pytest.raises(DataError, match="6 draws, but the matrix has 5"):
        Whitened().fit(inliers())(np.zeros((5, 2)))


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"mean": np.zeros(2)},
        {"mean": np.zeros(2), "whitener": np.zeros((3, 3))},
        {"mean": np.zeros((2, 1)), "whitener": np.zeros((2, 2))},
        {"mean": np.zeros(2), "whitener": np.full((2, 2), np.nan)},
    ],
)
def test_a_foreign_state_is_refused(state):
    with pytest.raises(DataError, match="fit again"):
        Whitened().restore(state)
