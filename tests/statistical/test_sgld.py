"""SGLD does what its equation says, and samples what it should."""

import numpy as np
import pytest
import torch
from scipy import stats

from dissensus.errors import SettingsError
from dissensus.posterior import SGHMC, SGLD
from dissensus.posterior.rules.sgld import SGLDState


def transcription(theta, gradients, noises, *, h, c, delta, adapt_steps):
    """The step of the docstring in float64."""
    trajectory = []
    tau = g = V = np.ones_like(theta)
    for t, (G_of, xi) in enumerate(zip(gradients, noises, strict=True)):
        G = G_of(theta)
        if t < adapt_steps:
            rho = 1 / (tau + 1)
            tau = tau + 1 - tau * g**2 / (V + delta)
            g = g + rho * (G - g)
            V = V + rho * (G**2 - V)
        m = 1 / (np.sqrt(V) + delta)
        theta = theta - h * m * G + np.sqrt(np.maximum(2 * h * m - c * h**2, 0)) * xi
        trajectory.append(theta)
    return np.array(trajectory)


@pytest.mark.parametrize("correction", [1.0, 0.0])
def test_trajectory_equals_a_plain_transcription(correction):
    random = np.random.default_rng(0)
    size, steps, adapt_steps = 40, 80, 50
    start, noises = random.normal(size=size), random.normal(size=(steps, size))
    offsets, curvature = random.normal(size=(steps, size)) * 30, random.uniform(1, 1000, size=size)
    gradients = [lambda theta, o=o: curvature * theta + o for o in offsets]
    expected = transcription(
        start, gradients, noises, h=2e-2, c=correction, delta=1e-8, adapt_steps=adapt_steps
    )
    rule = SGLD(step_size=2e-2, noise_correction=correction)
    weights = torch.tensor(start)
    state = rule.init(weights)
    for t in range(steps):
        gradient = torch.tensor(curvature) * weights + torch.tensor(offsets[t])
        rule.step_(state, weights, gradient, torch.tensor(noises[t]), adapt=t < adapt_steps)
        np.testing.assert_allclose(weights.numpy(), expected[t], rtol=1e-9, atol=1e-12)


def stationary_variance(rule, m, curvature, gradient_noise):
    """Of the linear chain θ' = (1 − hmκ)θ + noise, exactly: the noise's variance over 1 − (1 − hmκ)²."""
    h = rule.step_size
    noise = max(2 * h * m - rule.noise_correction * h**2, 0) + (h * m) ** 2 * gradient_noise
    return noise / (1 - (1 - h * m * curvature) ** 2)


@pytest.mark.parametrize(("curvature", "gradient_noise"), [(50.0, 400.0), (5.0, 2500.0), (200.0, 0.0)])
def test_stationary_law_is_preserved(curvature, gradient_noise):
    rule, m, size = SGLD(step_size=2e-2), 0.05, 40_000
    random = torch.Generator().manual_seed(1)
    variance = stationary_variance(rule, m, curvature, gradient_noise)
    weights = torch.randn(size, generator=random, dtype=torch.float64) * variance**0.5
    one = torch.ones_like(weights)
    state = SGLDState(
        one, one.clone(), torch.full_like(one, (1 / m - rule.floor) ** 2), torch.zeros_like(one)
    )
    for _ in range(200):
        noise, other = torch.randn(2, size, generator=random, dtype=torch.float64)
        rule.step_(state, weights, curvature * weights + gradient_noise**0.5 * other, noise, adapt=False)
    assert float(weights.var()) == pytest.approx(variance, rel=4 * (2 / size) ** 0.5)
    assert stats.kstest(weights.numpy() / variance**0.5, "norm").pvalue > 1e-3


def test_adapted_chain_samples_the_posterior_when_the_gradient_noise_is_the_minibatch_kind():
    curvature, gradient_noise, size = 100.0, 10_000.0, 20_000
    rule, random = SGLD(step_size=8e-3), torch.Generator().manual_seed(3)
    weights = torch.zeros(size, dtype=torch.float64)
    state = rule.init(weights)
    for step in range(3000):
        noise, other = torch.randn(2, size, generator=random, dtype=torch.float64)
        rule.step_(state, weights, curvature * weights + gradient_noise**0.5 * other, noise, step < 1000)
    assert float(weights.var()) == pytest.approx(1 / curvature, rel=0.04)
    assert float(rule.motion(state).mean()) == pytest.approx(1.0, rel=0.03)
    # The same drift as SGHMC's has the same κ.
    twin = SGHMC(step_size=2e-2)
    same = twin.init(weights)._replace(mean_square=state.mean_square)
    torch.testing.assert_close(rule.kappa(state), twin.kappa(same))


def test_a_freak_gradient_moves_no_further_than_the_bound():
    rule = SGLD(step_size=0.01, bound=100)
    weights, gradient = torch.zeros(2, dtype=torch.float64), torch.tensor([1e9, -50.0], dtype=torch.float64)
    rule.step_(rule.init(weights), weights, gradient, torch.zeros_like(weights), adapt=False)
    torch.testing.assert_close(weights, torch.tensor([-1.0, 0.5], dtype=torch.float64), rtol=1e-6, atol=0)


@pytest.mark.parametrize("step_size", [0.0, -1.0, float("nan")])
def test_impossible_settings_are_refused(step_size):
    with pytest.raises(SettingsError, match="step_size"):
        SGLD(step_size=step_size)
