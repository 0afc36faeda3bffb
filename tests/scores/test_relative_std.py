"""The spread relative to inliers of the same likelihood."""

import mpmath
import numpy as np
import pytest

from dissensus.errors import DataError, SettingsError
from dissensus.evaluation import auroc
from dissensus.scores import RelativeStd, std_of_log_likelihood


def inliers(count=500, seed=0):
    """Spread that grows tenfold as the likelihood falls by 100 nats."""
    rng = np.random.default_rng(seed)
    mean = rng.uniform(-200.0, -100.0, size=count)
    spread = 10 ** (-(mean + 100) / 100) * np.exp(0.1 * rng.normal(size=count))
    return mean + spread * rng.normal(size=(8, count))


def test_equals_its_definition_in_high_precision():
    fitting, columns = inliers(60), inliers(9, seed=1) - 30.0
    with mpmath.workdps(50):

        def moments(column):
            numbers = [mpmath.mpf(float(value)) for value in column]
            mean = mpmath.fsum(numbers) / len(numbers)
            return mean, mpmath.sqrt(mpmath.fsum((n - mean) ** 2 for n in numbers) / len(numbers))

        means = sorted(moments(column)[0] for column in fitting.T)
        place = mpmath.mpf(59) / 100
        low = means[0] + place * (means[1] - means[0])
        high = means[-1] - place * (means[-1] - means[-2])
        pairs = [moments(column) for column in fitting.T]
        x = [min(max(mean, low), high) for mean, _ in pairs]
        y = [mpmath.log(std) for _, std in pairs]
        x_mean, y_mean = mpmath.fsum(x) / 60, mpmath.fsum(y) / 60
        b = mpmath.fsum((p - x_mean) * (q - y_mean) for p, q in zip(x, y, strict=True)) / mpmath.fsum(
            (p - x_mean) ** 2 for p in x
        )
        expected = [
            float(std / mpmath.exp(y_mean + b * (min(max(mean, low), high) - x_mean)))
            for mean, std in map(moments, columns.T)
        ]
    np.testing.assert_allclose(RelativeStd().fit(fitting)(columns), expected, rtol=1e-10)


def test_it_tells_a_large_spread_from_a_low_likelihood():
    relative = RelativeStd().fit(inliers())
    fresh = inliers(seed=1)
    likely = fresh.mean(axis=0) > -130
    odd = fresh[:, likely] + 3 * (fresh[:, likely] - fresh[:, likely].mean(axis=0))
    assert auroc(std_of_log_likelihood(fresh), std_of_log_likelihood(odd)) < 0.75
    assert auroc(relative(fresh), relative(odd)) > 0.99


def test_the_line_is_not_followed_beyond_the_inliers():
    relative = RelativeStd().fit(inliers())
    far = np.array([[-1e6], [-1e6 - 40]])
    lowest = np.quantile(inliers().mean(axis=0), 0.01)
    usual = relative(np.array([[lowest + 20], [lowest - 20]]))
    np.testing.assert_allclose(relative(far), usual, rtol=1e-9)
    assert np.isfinite(relative(far)).all()


@pytest.mark.parametrize("fitting", [np.full((2, 3), -1.0), np.array([[-5.0], [-7.0]])])
def test_inliers_all_alike_leave_a_multiple_of_the_spread(fitting):
    columns = np.array([[-1.0, 2.0, -9.0], [1.0, 2.0, -90.0]])
    np.testing.assert_allclose(RelativeStd().fit(fitting)(columns), std_of_log_likelihood(columns))


def test_it_survives_its_state():
    fitted = RelativeStd().fit(inliers())
    columns = inliers(seed=1)
    np.testing.assert_array_equal(RelativeStd().restore(fitted.state())(columns), fitted(columns))


def test_it_must_be_fitted_and_on_something():
    for call in (lambda: RelativeStd()(np.zeros((2, 2))), lambda: RelativeStd().state()):
        with pytest.raises(SettingsError, match="call fit"):
            call()
    with pytest.raises(DataError, match="at least one inlier"):
        RelativeStd().fit(np.zeros((2, 0)))


@pytest.mark.parametrize(
    "state",
    [{}, {"line": np.zeros(3)}, {"line": np.full(4, np.nan)}, {"line": np.array([0.0, 0.0, 1.0, 0.0])}],
)
def test_a_foreign_state_is_refused(state):
    with pytest.raises(DataError, match="fit again"):
        RelativeStd().restore(state)
