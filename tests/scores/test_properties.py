"""What holds for every matrix: ranges, orders, symmetries, and the identities of the paper's appendix B."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dissensus.scores import (
    MATRIX,
    SCORES,
    effective_sample_size,
    entropy,
    ess_disagreement,
    interquartile_range,
    kl_to_uniform,
    median_absolute_deviation,
    score,
    std_of_log_likelihood,
)

OF_MATRIX = [name for name in SCORES if score(name).requires == (MATRIX,)]
thorough = settings(derandomize=True, deadline=None, max_examples=60)
DISAGREEMENT = [ess_disagreement, kl_to_uniform, entropy, std_of_log_likelihood]


def likelihood_matrices(*, lowest=-700.0, least_draws=2):
    """Matrices (M, N) on a grid of 1/64 nat, on which shifts by whole numbers are exact."""
    shapes = st.tuples(st.integers(least_draws, 12), st.integers(1, 6))
    grid = st.integers(int(64 * lowest), 0).map(lambda k: k / 64)
    return shapes.flatmap(lambda shape: arrays(np.float64, shape, elements=grid))


def weights_of(matrix):
    relative = np.exp(matrix - matrix.max(axis=0))
    return relative / relative.sum(axis=0)


def fitted(name, inliers):
    return score(name).fit(inliers)


def tolerance(name):
    """What is fitted on a handful of inliers divides by numbers that are small beside the log-likelihoods."""
    return 1e-7 if score(name).learns else 1e-12


@thorough
@given(likelihood_matrices())
def test_effective_sample_size_lies_between_one_and_the_number_of_draws(matrix):
    size = effective_sample_size(matrix)
    assert np.all(size >= 1.0)
    assert np.all(size <= matrix.shape[0])


@pytest.mark.parametrize("draws", [1, 2, 3, 7, 49])
def test_effective_sample_size_reaches_both_ends(draws):
    agreed = np.full((draws, 1), -3.7)
    led = np.where(np.arange(draws) == draws // 2, 0.0, -500.0)[:, None]
    assert effective_sample_size(agreed) == pytest.approx(draws, rel=1e-15)
    assert effective_sample_size(led) == 1.0


@thorough
@given(likelihood_matrices(lowest=-16.0))  # beyond, 1 - 1/D has too few digits left to compare with
def test_ess_disagreement_falls_as_effective_sample_size_rises(matrix):
    size, disagreement = effective_sample_size(matrix), ess_disagreement(matrix)
    order = np.argsort(size)
    clearly_larger = np.diff(size[order]) > 1e-9 * size[order][1:]
    assert np.all(np.diff(disagreement[order])[clearly_larger] < 0)
    np.testing.assert_allclose(disagreement, -np.log1p(-1.0 / size), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("ranking", [ess_disagreement, entropy, kl_to_uniform])
def test_no_ties_among_gaps_at_which_effective_sample_size_is_one(ranking):
    rng = np.random.default_rng(5)
    matrix = -rng.uniform(40.0, 700.0, size=(10, 2000))
    matrix[3] = 0.0
    assert np.unique(effective_sample_size(matrix)).size == 1
    assert np.unique(ranking(matrix)).size == 2000


@pytest.mark.parametrize("ranking", [*DISAGREEMENT, median_absolute_deviation, interquartile_range])
@thorough
@given(likelihood_matrices(), st.integers(-3000, 3000))
def test_disagreement_ignores_a_constant_added_to_a_column(ranking, matrix, shift):
    np.testing.assert_allclose(ranking(matrix + shift), ranking(matrix), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", OF_MATRIX)
@thorough
@given(likelihood_matrices(), st.randoms(use_true_random=False))
def test_scores_ignore_the_order_of_the_draws(name, matrix, random):
    order = random.sample(range(matrix.shape[0]), matrix.shape[0])
    permuted = fitted(name, matrix[order])(matrix[order])
    np.testing.assert_allclose(permuted, fitted(name, matrix)(matrix), rtol=tolerance(name), atol=1e-12)


@pytest.mark.parametrize("name", ["ess", "kl", "entropy"])
def test_weight_scores_are_the_same_bits_for_any_order_of_the_draws(name):
    rng = np.random.default_rng(0)
    matrix = rng.normal(scale=20.0, size=(30, 200))
    np.testing.assert_array_equal(score(name)(rng.permutation(matrix)), score(name)(matrix))


@pytest.mark.parametrize("name", OF_MATRIX)
@thorough
@given(likelihood_matrices())
def test_an_input_scores_the_same_alone_as_in_a_batch(name, matrix):
    chosen = fitted(name, matrix)
    alone = np.concatenate([chosen(matrix[:, [n]]) for n in range(matrix.shape[1])])
    np.testing.assert_allclose(alone, chosen(matrix), rtol=tolerance(name), atol=1e-12)


@pytest.mark.parametrize("ranking", DISAGREEMENT)
@thorough
@given(likelihood_matrices())
def test_agreement_is_the_least_and_a_lone_leader_more_than_it(ranking, matrix):
    agreed = ranking(np.zeros_like(matrix))
    assert np.all(ranking(matrix) >= agreed - 1e-12)
    led = np.where(np.arange(matrix.shape[0]) == 0, 0.0, -701.0)[:, None]
    assert np.all(ranking(led) > agreed[0])


# Appendix B: the Euclidean-distance identity.


@thorough
@given(likelihood_matrices())
def test_distance_to_equal_weights_is_the_square_root_of_inverse_ess_less_inverse_m(matrix):
    M = matrix.shape[0]
    distance = np.linalg.norm(weights_of(matrix) - 1.0 / M, axis=0)
    size = effective_sample_size(matrix)
    np.testing.assert_allclose(distance**2, 1.0 / size - 1.0 / M, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(size, 1.0 / (distance**2 + 1.0 / M), rtol=1e-12)


# Appendix B: the proposition that D is largest where KL is smallest, and the other way round.


@thorough
@given(likelihood_matrices())
def test_kl_is_minus_the_mean_log_of_m_times_the_weights(matrix):
    log_weights = matrix - np.logaddexp.reduce(matrix, axis=0)
    expected = -(np.log(matrix.shape[0]) + log_weights).mean(axis=0)
    np.testing.assert_allclose(kl_to_uniform(matrix), expected, rtol=1e-12, atol=1e-12)


@thorough
@given(likelihood_matrices())
def test_kl_is_zero_and_ess_is_m_exactly_where_the_weights_are_equal(matrix):
    M = matrix.shape[0]
    equal = np.ptp(matrix, axis=0) == 0.0  # otherwise some gap is at least 1/64 nat
    kl, size = kl_to_uniform(matrix), effective_sample_size(matrix)
    assert np.all(kl >= 0.0)
    np.testing.assert_allclose(kl[equal], 0.0, atol=1e-15)
    np.testing.assert_allclose(size[equal], M, rtol=1e-14)
    assert np.all(kl[~equal] > 1e-6)
    assert np.all(size[~equal] < M - 1e-6)


@st.composite
def floored_weights(draw):
    """Weights (M,) of at least ε, summing to one, with their ε."""
    M = draw(st.integers(2, 10))
    floor = draw(st.floats(1e-12, 0.5 / M))
    shares = np.array(draw(st.lists(st.floats(0.0, 1.0), min_size=M, max_size=M)))
    assume(shares.sum() > 1e-3)
    return floor + (1.0 - M * floor) * shares / shares.sum(), floor


@thorough
@given(floored_weights(), st.data())
def test_one_hot_weights_with_a_floor_have_the_largest_kl_and_the_least_ess(weights_and_floor, data):
    weights, floor = weights_and_floor
    M = weights.size
    one_hot = np.full(M, floor)
    one_hot[data.draw(st.integers(0, M - 1))] = 1.0 - (M - 1) * floor
    largest_kl = -(np.log(M * (1.0 - (M - 1) * floor)) + (M - 1) * np.log(M * floor)) / M

    matrix = np.log(np.stack([one_hot, weights], axis=1))
    kl, size = kl_to_uniform(matrix), effective_sample_size(matrix)
    assert kl[0] == pytest.approx(largest_kl, rel=1e-10, abs=1e-12)
    assert kl[1] <= kl[0] + 1e-12
    assert size[1] >= size[0] * (1.0 - 1e-12)
    if np.sort(weights)[-2] > floor * (1.0 + 1e-3):  # a second weight above the floor: not a maximiser
        assert kl[1] < kl[0]
        assert ess_disagreement(matrix)[1] < ess_disagreement(matrix)[0]


@thorough
@given(floored_weights(), st.data())
def test_moving_weight_from_a_smaller_to_a_larger_draw_raises_every_disagreement(weights_and_floor, data):
    weights, _ = weights_and_floor
    order = np.argsort(weights)
    small, large = order[0], order[-1]
    moved = weights.copy()
    delta = data.draw(st.floats(0.1, 0.9)) * weights[small]
    moved[small] -= delta
    moved[large] += delta
    assume(delta > 1e-6)
    matrix = np.log(np.stack([weights, moved], axis=1))
    for ranking in DISAGREEMENT:
        before, after = ranking(matrix)
        assert after > before, ranking.__name__
