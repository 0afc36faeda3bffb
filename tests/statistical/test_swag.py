"""SWAG: the moments of the iterates, the draws from them, and the scale that held-out inputs choose."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.errors import DivergenceError, SettingsError
from dissensus.posterior import SWAG, Adam
from dissensus.posterior.rules.swag import Moments, choose_scale


def draws_of(moments, scale, count):
    return torch.stack([moments.draw(scale, torch.Generator().manual_seed(i)) for i in range(count)]).double()


@pytest.mark.parametrize("rank", [2, 5, 40])
@pytest.mark.parametrize("scale", [1.0, 0.25])
def test_draws_have_swag_s_covariance(rank, scale):
    """½ diag(variances) + ½ DᵀD/(R − 1) of the last R iterates, times the scale's square."""
    random = np.random.default_rng(0)
    iterates = random.normal(size=(12, 3)) @ random.normal(size=(3, 3)) + 50
    deviations = (iterates - iterates.mean(0))[-rank:]
    expected = (
        scale**2 / 2 * (np.diag(iterates.var(0, ddof=1)) + deviations.T @ deviations / (len(deviations) - 1))
    )
    drawn = draws_of(Moments.of(torch.tensor(iterates), rank), scale, 20_000).numpy()
    error = np.sqrt(2 * np.outer(np.diag(expected), np.diag(expected)) / len(drawn))
    assert (np.abs(np.cov(drawn.T) - expected) < 4.5 * error).all()
    assert np.abs(drawn.mean(0) - iterates.mean(0)).max() < 4.5 * np.sqrt(expected.diagonal().max() / 20_000)


def test_small_spreads_of_large_weights_are_not_lost():
    iterates = 1000 + 1e-3 * torch.arange(-2.0, 3.0, dtype=torch.float64)[:, None]
    assert float(Moments.of(iterates, 20).std) == pytest.approx(1e-3 * math.sqrt(2.5), rel=1e-5)


def adam_s_stationary_law(rule, curvature, gradient_noise):
    """Where the gradient is mostly noise, V is its variance and Adam a linear chain in (θ, m).

    Its matrix, and the exact covariance of (θ, m).
    """
    first, rate = rule.optimiser.decay[0], rule.step_size / math.sqrt(gradient_noise)
    # m' = βm + (1 − β)(hθ + noise), θ' = θ − r m'
    A = np.array([[1 - rate * (1 - first) * curvature, -rate * first], [(1 - first) * curvature, first]])
    b = np.array([-rate * (1 - first), 1 - first])
    covariance = np.zeros((2, 2))
    for _ in range(20_000):
        covariance = A @ covariance @ A.T + gradient_noise * np.outer(b, b)
    return A, covariance


def test_moments_of_adam_s_iterates_are_those_of_its_stationary_law():
    rule, curvature, gradient_noise, size = SWAG(Adam(learning_rate=2e-3)), 2.0, 100.0, 4000
    random = torch.Generator().manual_seed(0)
    weights = torch.randn(size, generator=random) * 0.05 + 3.0
    state, iterates = rule.init(weights), []
    for step in range(1, 24_001):
        noise = torch.randn(size, generator=random)
        rule.step_(state, weights, curvature * (weights - 3.0) + gradient_noise**0.5 * noise)
        if step > 12_000 and step % 600 == 0:
            iterates.append(weights.clone())
    moments = Moments.of(torch.stack(iterates), rule.rank)
    A, covariance = adam_s_stationary_law(rule, curvature, gradient_noise)
    expected = covariance[0, 0]
    assert float(moments.mean.mean()) == pytest.approx(3.0, abs=4 * math.sqrt(expected / size))
    between = torch.stack(iterates).var(dim=1).mean()
    assert float(between) == pytest.approx(expected, rel=0.05)
    # Iterates close to each other differ less: the mean covariance of two of them is lost from the variance.
    K, apart = len(iterates), np.linalg.matrix_power(A, 600)
    lags = [(np.linalg.matrix_power(apart, k) @ covariance)[0, 0] for k in range(K)]
    lost = sum(2 * (K - k) * lags[k] for k in range(1, K)) / (K * (K - 1))
    assert lost > 0.2 * expected
    assert float(moments.std.square().mean()) == pytest.approx(expected - lost, rel=0.05)
    drawn = draws_of(moments, 1.0, 40)
    assert float(drawn.var(0).mean()) == pytest.approx(float(moments.std.square().mean()), rel=0.05)


def test_scales_that_overflow_lose():
    found = {0.1: -5.0, 1.0: math.nan, 2.0: -math.inf, 4.0: math.inf}
    assert choose_scale(found, 1.0) == 0.1
    with pytest.raises(DivergenceError, match="finite"):
        choose_scale({1.0: math.nan, 2.0: -math.inf}, 1.0)


@settings(derandomize=True, deadline=None, max_examples=50)
@given(st.dictionaries(st.floats(0.01, 4), st.floats(-1e3, 0), min_size=1), st.floats(0, 10))
def test_the_widest_scale_within_the_tolerance_is_chosen(found, tolerance):
    chosen = choose_scale(found, tolerance)
    assert found[chosen] >= max(found.values()) - tolerance
    assert all(value < max(found.values()) - tolerance for scale, value in found.items() if scale > chosen)


def test_the_tolerance_gives_the_scale_of_the_nearest_gaussian():
    """Quadratic losses of random curvature: the chosen scale minimises KL(N(0, s²Σ) ‖ N(0, H⁻¹))."""
    random = np.random.default_rng(0)
    P, N = 30, 200
    root, other = random.normal(size=(2, P, P))
    H, Sigma = root @ root.T, other @ other.T / 50
    scales = np.exp(np.linspace(-8, 2, 4000))
    losses = {float(s): -float(s**2 * np.trace(H @ Sigma) / 2 / N) for s in scales}
    divergence = scales**2 * np.trace(H @ Sigma) / 2 - P * np.log(scales)
    assert choose_scale(losses, P / (2 * N)) == pytest.approx(scales[divergence.argmin()], rel=0.01)


@pytest.mark.parametrize("wrong", [{"rank": 1}, {"scale": 0.0}, {"scales": ()}, {"scales": (1.0, -1.0)}])
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        SWAG(**wrong)
