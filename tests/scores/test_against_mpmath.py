"""Every score against 50-digit arithmetic, written straight from its definition."""

import mpmath
import numpy as np
import pytest

from dissensus.scores import (
    effective_sample_size,
    entropy,
    ess_disagreement,
    interquartile_range,
    kl_to_uniform,
    mean_log_likelihood,
    median_absolute_deviation,
    mixture_log_likelihood,
    std_of_log_likelihood,
    waic,
)

DIGITS = 360  # 1 - Σw² at a gap of 700 nats starts with 304 zeros: 50 digits must be left after them


def exact_weights(column):
    likelihoods = [mpmath.exp(mpmath.mpf(float(value))) for value in column]
    total = mpmath.fsum(likelihoods)
    return [likelihood / total for likelihood in likelihoods]


def exact_mean(column):
    return mpmath.fsum(mpmath.mpf(float(value)) for value in column) / len(column)


def exact_variance(column):
    mean = exact_mean(column)
    return mpmath.fsum((mpmath.mpf(float(value)) - mean) ** 2 for value in column) / len(column)


def exact_ess(column):
    return 1 / mpmath.fsum(w**2 for w in exact_weights(column))


def exact_entropy(column):
    return -mpmath.log(mpmath.fsum(-w * mpmath.log(w) for w in exact_weights(column)))


def exact_kl(column):
    weights = exact_weights(column)
    return -mpmath.fsum(mpmath.log(len(weights) * w) for w in weights) / len(weights)


def exact_mixture(column):
    return -mpmath.log(mpmath.fsum(mpmath.exp(mpmath.mpf(float(v))) for v in column) / len(column))


def exact_quantile(numbers, share):
    """Linear between the order statistics, the first at 0 and the last at 1."""
    ordered = sorted(numbers)
    place = mpmath.mpf(share) * (len(ordered) - 1)
    below = int(mpmath.floor(place))
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def exact_mad(column):
    numbers = [mpmath.mpf(float(value)) for value in column]
    middle = exact_quantile(numbers, 0.5)
    return exact_quantile([abs(number - middle) for number in numbers], 0.5)


def exact_iqr(column):
    numbers = [mpmath.mpf(float(value)) for value in column]
    return exact_quantile(numbers, 0.75) - exact_quantile(numbers, 0.25)


DEFINITIONS = [
    (effective_sample_size, exact_ess),
    (ess_disagreement, lambda column: -mpmath.log(1 - 1 / exact_ess(column))),
    (entropy, exact_entropy),
    (kl_to_uniform, exact_kl),
    (std_of_log_likelihood, lambda column: mpmath.sqrt(exact_variance(column))),
    (mean_log_likelihood, lambda column: -exact_mean(column)),
    (mixture_log_likelihood, exact_mixture),
    (median_absolute_deviation, exact_mad),
    (interquartile_range, exact_iqr),
    (waic, lambda column: exact_variance(column) - exact_mean(column)),
]


def columns_with_gaps(draws):
    """Columns (draws, N), shifted by up to 2000 nats, with gaps of 1e-2 to 700 nats in five patterns."""
    rng = np.random.default_rng(draws)
    columns = []
    for gap in (0.01, 0.5, 1.0, 10.0, 36.0, 37.0, 38.0, 100.0, 400.0, 700.0):
        spread_out = -gap * rng.random(draws)
        spread_out[:2] = 0.0, -gap
        bunched = np.where(np.arange(draws) < 1 + draws // 2, 0.0, -gap)
        one_leads = np.where(np.arange(draws) == 0, 0.0, -gap)
        one_trails = np.where(np.arange(draws) == 0, -gap, 0.0)
        two_lead = np.where(np.arange(draws) < 2, [-0.3 * (m == 1) for m in range(draws)], -gap)
        columns += [rng.permutation(c) for c in (spread_out, bunched, one_leads, one_trails, two_lead)]
    return np.stack(columns, axis=1) - 2000.0 * rng.random(len(columns))


@pytest.mark.parametrize("draws", [2, 3, 10, 50])
@pytest.mark.parametrize(("score", "definition"), DEFINITIONS, ids=[s.__name__ for s, _ in DEFINITIONS])
def test_score_equals_its_definition_in_high_precision(score, definition, draws):
    matrix = columns_with_gaps(draws)
    with mpmath.workdps(DIGITS):
        expected = np.array([float(definition(column)) for column in matrix.T])
    np.testing.assert_allclose(score(matrix), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("score", [ess_disagreement, entropy])
def test_small_scores_of_many_draws_that_agree_keep_their_relative_accuracy(score):
    matrix = np.random.default_rng(0).normal(size=(500, 20))
    exact = dict(DEFINITIONS)[score]
    with mpmath.workdps(50):
        expected = np.array([float(exact(column)) for column in matrix.T])
    np.testing.assert_allclose(score(matrix), expected, rtol=1e-12)


@pytest.mark.parametrize("gap", [700.0, 745.0, 1e4, 1e6])
def test_gaps_beyond_float64_range_keep_their_order_and_value(gap):
    # With two draws, 1 - Σw² = 2 e/(1+e)² → 2e and H → e (1 + gap) for e = exp(-gap).
    matrix = np.array([[0.0, 0.0], [-gap, -gap - 1e-3]])
    np.testing.assert_allclose(ess_disagreement(matrix)[0], gap - np.log(2), rtol=1e-14)
    np.testing.assert_allclose(entropy(matrix)[0], gap - np.log1p(gap), rtol=1e-14)
    assert np.all(np.diff([ess_disagreement(matrix), entropy(matrix), kl_to_uniform(matrix)], axis=1) > 0)
