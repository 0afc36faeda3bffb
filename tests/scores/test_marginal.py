"""Normal scores by the inliers' distribution: normal on inliers, ordered and finite everywhere."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from dissensus.errors import DataError
from dissensus.scores._marginal import FARTHEST, Marginal, surprise

LAWS = {
    "normal": stats.norm(5, 2),
    "uniform": stats.uniform(),
    "exponential": stats.expon(),
    "log-normal": stats.lognorm(1.5),
    "student": stats.t(2),
    "two humps": stats.rv_histogram((np.array([5, 0, 1]), np.array([0.0, 1.0, 50.0, 51.0])), density=False),
}
every_law = pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)


def draw(law, count, seed=0):
    return law.rvs(size=count, random_state=np.random.default_rng(seed))


@every_law
def test_fresh_inliers_have_standard_normal_scores(law):
    scores = Marginal.fit(draw(law, 3000))(draw(law, 3000, seed=1))
    # Both samples count: the distance is that of a two-sample test, at a level of 0.1%.
    assert stats.kstest(scores, "norm").statistic < 1.95 * np.sqrt(2 / 3000)


@every_law
def test_scores_rise_strictly_through_bulk_and_tails(law):
    inliers = draw(law, 500)
    low, high = inliers.min(), inliers.max()
    grid = np.concatenate([np.linspace(low, high, 3000), high + np.geomspace(1e-3, 1e290, 3000)])
    grid = np.concatenate([low - np.geomspace(1e290, 1e-3, 3000), grid])
    scores = Marginal.fit(inliers)(grid)
    assert np.isfinite(scores).all()
    assert (np.diff(scores) > 0).all()


def test_tail_probabilities_are_about_right_far_beyond_the_inliers():
    """A Pareto tail, ξ = ½, at a probability of a hundred thousandth, seen from 4,000 inliers."""
    law = stats.pareto(2)
    found = [float(surprise(Marginal.fit(draw(law, 4000, seed))(law.isf(1e-5)))) for seed in range(5)]
    assert np.median(found) == pytest.approx(-np.log(1e-5), rel=0.2)


@pytest.mark.parametrize(("shape", "allowed"), [(0.2, 0.1), (0.5, 0.15), (0.8, 0.2)])
def test_the_weight_of_a_tail_is_found(shape, allowed):
    law = stats.genpareto(shape)
    found = [Marginal.fit(draw(law, 20_000, seed)).shapes[1] for seed in range(9)]
    assert np.median(found) == pytest.approx(shape, abs=allowed)
    light = Marginal.fit(draw(stats.uniform(), 20_000))
    assert light.shapes.tolist() == [0.1, 0.1]


def test_the_score_of_a_far_value_grows_with_its_logarithm():
    marginal = Marginal.fit(draw(LAWS["normal"], 2000))
    nats = surprise(marginal(10.0 ** np.arange(10, 290, 10)))
    steps = np.diff(nats)
    np.testing.assert_allclose(steps, steps[0], rtol=1e-6)
    assert 0 < steps[0] <= 10 * np.log(10) / 0.1


@every_law
@pytest.mark.parametrize(("factor", "shift"), [(1e-6, 3e-3), (2e4, -1e3), (-7.0, 0.5)])
def test_units_do_not_matter_and_the_sign_turns_it_round(law, factor, shift):
    inliers, values = draw(law, 300), np.concatenate([draw(law, 50, seed=1), [-30.0, 99.0, 1e9]])
    expected = np.sign(factor) * Marginal.fit(inliers)(values)
    np.testing.assert_allclose(
        Marginal.fit(factor * inliers + shift)(factor * values + shift), expected, rtol=1e-5, atol=1e-5
    )


def test_infinity_is_as_far_as_it_goes():
    marginal = Marginal.fit(draw(LAWS["normal"], 100))
    np.testing.assert_array_equal(marginal([np.inf, -np.inf]), marginal([FARTHEST, -FARTHEST]))
    assert marginal(np.inf) > marginal(1e290)
    with_infinite = Marginal.fit([*range(50), np.inf, np.inf])
    assert (np.diff(with_infinite([0.0, 25.0, 49.0, 1e5, np.inf])) > 0).all()


@pytest.mark.parametrize("value", [0.0, -3.5, 1e300, 1e-300])
@pytest.mark.parametrize("count", [1, 2, 700])
def test_inliers_all_alike(value, count):
    marginal = Marginal.fit(np.full(count, value))
    step = max(1.0, abs(value)) * 1e-3
    scores = marginal(np.array([-np.inf, value - step, value, value + step, 1.7e308]))
    assert np.isfinite(scores).all()
    assert scores[2] == pytest.approx(0.0, abs=1e-9)
    assert scores[1] < -3
    assert scores[3] > 3
    assert scores[0] <= scores[1]
    assert scores[3] <= scores[4]


def test_ties_lie_in_the_middle_of_their_ranks():
    inliers = np.repeat([0.0, 1.0, 2.0, 3.0], 250)
    scores = Marginal.fit(inliers)([0.0, 1.0, 2.0, 3.0])
    np.testing.assert_allclose(stats.norm.cdf(scores[1:3]), [0.375, 0.625], atol=0.02)
    assert (np.diff(scores) > 0.3).all()


@settings(derandomize=True, deadline=None, max_examples=150)
@given(
    arrays(np.float64, st.integers(1, 60), elements=st.floats(-1e308, 1e308)),
    st.lists(st.floats(allow_nan=False), min_size=1, max_size=20),
)
def test_whatever_the_inliers_scores_are_finite_and_in_order(inliers, values):
    scores = Marginal.fit(inliers)(np.sort(values))
    assert np.isfinite(scores).all()
    assert (np.diff(scores) >= 0).all()


def test_the_first_value_beyond_the_last_knot_scores_no_less_than_it():
    for seed in range(50):
        marginal = Marginal.fit(np.random.default_rng(seed).normal(size=20 + 3 * seed))
        for knot, end in ((marginal.knots[0], -np.inf), (marginal.knots[-1], np.inf)):
            at, beyond = np.sign(end) * marginal([knot, np.nextafter(knot, end)])
            assert beyond >= at


@pytest.mark.parametrize("count", [7, 9, 12])
def test_a_line_between_knots_that_are_far_apart_ends_no_higher_than_its_end(count):
    inliers = np.append(
        np.full(count, 1 / 32), [-2.33046344e16, -6.64525668e16, -2.33046344e16, -2.33046352e16]
    )
    inside, beyond = Marginal.fit(inliers)([0.0, 0.25])
    assert inside <= beyond


def test_it_survives_its_arrays():
    marginal = Marginal.fit(draw(LAWS["student"], 200))
    values = np.linspace(-50, 50, 99)
    np.testing.assert_array_equal(Marginal(**marginal.arrays())(values), marginal(values))


@pytest.mark.parametrize(
    "change",
    [
        {"knots": np.zeros(3)},
        {"knots": np.array([2.0, 1.0])},
        {"knots": np.empty(0), "scores": np.empty(0)},
        {"knots": np.array(1.0), "scores": np.array(1.0)},
        {"scores": np.array([0.0, np.nan])},
        {"scales": np.array([1.0, 0.0])},
        {"shapes": np.array([0.1, -0.1])},
        {"scales": np.ones(3)},
    ],
)
def test_foreign_arrays_are_refused(change):
    good = {"knots": [0.0, 1.0], "scores": [-1.0, 1.0], "scales": [1.0, 1.0], "shapes": [0.1, 0.1]}
    arrays = {name: np.array(values) for name, values in good.items()}
    Marginal(**arrays)
    with pytest.raises(DataError, match="fit again"):
        Marginal(**(arrays | change))
