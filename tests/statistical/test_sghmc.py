"""SGHMC does what its equations say, and samples what it should."""

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.linalg import solve_discrete_lyapunov

from dissensus.errors import SettingsError
from dissensus.posterior import SGHMC
from dissensus.posterior.rules.sghmc import SGHMCState


def transcription(theta, gradients, noises, *, eps, alpha, c, delta, adapt_steps):
    """The step of the docstring, one scalar at a time, in float64."""
    trajectory = []
    tau = g = V = np.ones_like(theta)
    v = np.zeros_like(theta)
    for t, (G_of, xi) in enumerate(zip(gradients, noises, strict=True)):
        G = G_of(theta)
        if t < adapt_steps:
            rho = 1 / (tau + 1)
            tau = tau + 1 - tau * g**2 / (V + delta)
            g = g + rho * (G - g)
            V = V + rho * (G**2 - V)
        m = 1 / (np.sqrt(V) + delta)
        s2 = np.maximum(2 * eps**2 * alpha * m - c * eps**4, 0)
        v = v - eps**2 * m * G - alpha * v + np.sqrt(s2) * xi
        theta = theta + v
        trajectory.append(theta)
    return np.array(trajectory)


@pytest.mark.parametrize("correction", [1.0, 1 / 60_000**2, 0.0])
def test_trajectory_equals_a_plain_transcription(correction):
    random = np.random.default_rng(0)
    size, steps, adapt_steps = 40, 80, 50
    start = random.normal(size=size)
    offsets = random.normal(size=(steps, size)) * 30
    curvature = random.uniform(1, 1000, size=size)
    noises = random.normal(size=(steps, size))
    gradients = [lambda theta, o=o: curvature * theta + o for o in offsets]
    expected = transcription(
        start, gradients, noises, eps=3e-2, alpha=0.05, c=correction, delta=1e-8, adapt_steps=adapt_steps
    )

    rule = SGHMC(step_size=3e-2, noise_correction=correction)
    weights = torch.tensor(start)
    state = rule.init(weights)
    for t in range(steps):
        gradient = torch.tensor(curvature) * weights + torch.tensor(offsets[t])
        rule.step_(state, weights, gradient, torch.tensor(noises[t]), adapt=t < adapt_steps)
        np.testing.assert_allclose(weights.numpy(), expected[t], rtol=1e-9, atol=1e-12)


def test_golden_numbers():
    """Fixed at the first release: a change here changes everybody's posterior."""
    weights = torch.tensor([0.5, -1.0], dtype=torch.float64)
    rule = SGHMC(step_size=0.1, momentum_decay=0.1)
    state = rule.init(weights)
    for xi in (0.3, -1.2, 0.7):
        gradient = torch.tensor([10.0, 3.0], dtype=torch.float64) * weights
        rule.step_(state, weights, gradient, torch.full_like(weights, xi), adapt=True)
    np.testing.assert_allclose(weights.numpy(), GOLDEN, rtol=1e-12)


GOLDEN = [0.4175317529827657, -0.9498650427052612]


def stationary_covariance(rule, m, curvature, gradient_noise):
    """Of (θ, v) for the linear chain on U = h θ²/2 with gradient noise of the given variance: exact."""
    eps2, alpha = rule.step_size**2, rule.momentum_decay
    injected = max(2 * eps2 * alpha * m - rule.noise_correction * eps2**2, 0)
    A = np.array([[1 - eps2 * m * curvature, 1 - alpha], [-eps2 * m * curvature, 1 - alpha]])
    Q = (injected + eps2**2 * m**2 * gradient_noise) * np.ones((2, 2))
    return solve_discrete_lyapunov(A, Q)


def run_frozen(rule, m, curvature, gradient_noise, steps, size, seed):
    """``size`` independent coordinates, started at the stationary law, with V held so that the scale is m."""
    random = torch.Generator().manual_seed(seed)
    covariance = stationary_covariance(rule, m, curvature, gradient_noise)
    start = np.linalg.cholesky(covariance) @ torch.randn(2, size, generator=random).double().numpy()
    weights, momentum = torch.tensor(start[0]), torch.tensor(start[1])
    scale = torch.full_like(weights, (1 / m - rule.floor) ** 2)
    state = SGHMCState(torch.ones_like(weights), torch.ones_like(weights), scale, momentum)
    for _ in range(steps):
        noise, other = torch.randn(2, size, generator=random, dtype=torch.float64)
        gradient = curvature * weights + gradient_noise**0.5 * other
        rule.step_(state, weights, gradient, noise, adapt=False)
    return weights.numpy(), state.momentum.numpy(), covariance


@pytest.mark.parametrize(("curvature", "gradient_noise"), [(50.0, 400.0), (5.0, 2500.0), (200.0, 0.0)])
def test_stationary_law_is_preserved(curvature, gradient_noise):
    rule = SGHMC(step_size=3e-2)
    weights, momentum, covariance = run_frozen(rule, 0.05, curvature, gradient_noise, 200, 40_000, seed=1)
    sampling_error = np.sqrt(np.outer(covariance.diagonal(), covariance.diagonal()) * 2 / len(weights))
    assert (np.abs(np.cov(weights, momentum) - covariance) < 4 * sampling_error).all()
    assert stats.kstest(weights / covariance[0, 0] ** 0.5, "norm").pvalue > 1e-3
    assert stats.kstest(momentum / covariance[1, 1] ** 0.5, "norm").pvalue > 1e-3


def test_adapted_chain_samples_the_posterior_when_the_gradient_noise_is_the_minibatch_kind():
    """Started elsewhere and adapting: where V is mostly gradient noise, ε⁴ is just what that noise brings."""
    curvature, gradient_noise, size = 100.0, 10_000.0, 20_000
    rule = SGHMC(step_size=2e-2)
    random = torch.Generator().manual_seed(3)
    weights = torch.zeros(size, dtype=torch.float64)
    state = rule.init(weights)
    for step in range(3000):
        noise, other = torch.randn(2, size, generator=random, dtype=torch.float64)
        gradient = curvature * weights + gradient_noise**0.5 * other
        rule.step_(state, weights, gradient, noise, adapt=step < 1000)
    assert float(weights.var()) == pytest.approx(1 / curvature, rel=0.04)
    kinetic = (state.momentum.square() / (rule.step_size**2 * rule.inverse_scale(state))).mean()
    assert float(kinetic) == pytest.approx(1 / (1 - rule.momentum_decay / 2), rel=0.03)


def test_without_noise_it_is_heavy_ball():
    rule = SGHMC(step_size=0.05, momentum_decay=0.1)
    weights = torch.tensor([1.0, -2.0], dtype=torch.float64)
    state = rule.init(weights)
    theta, v = weights.clone(), torch.zeros(2, dtype=torch.float64)
    learning_rate = 0.05**2 / (1 + rule.floor)  # V stays 1 when it is not adapted
    for _ in range(30):
        v = 0.9 * v - learning_rate * 4 * theta
        theta = theta + v
        rule.step_(state, weights, 4 * weights, torch.zeros(2, dtype=torch.float64), adapt=False)
    torch.testing.assert_close(weights, theta, rtol=1e-12, atol=0)


def test_a_weight_without_gradient_stays_finite():
    rule = SGHMC()
    weights = torch.zeros(3)
    state = rule.init(weights)
    for _ in range(5000):
        rule.step_(state, weights, torch.zeros(3), torch.zeros(3), adapt=True)
    assert torch.isfinite(weights).all()
    assert torch.isfinite(rule.inverse_scale(state)).all()


@pytest.mark.parametrize("wrong", [{"step_size": 0.0}, {"momentum_decay": 1.0}, {"step_size": float("nan")}])
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        SGHMC(**wrong)


def test_a_freak_gradient_moves_no_further_than_the_bound():
    rule = SGHMC(step_size=0.1, bound=100)
    weights, gradient = torch.zeros(2, dtype=torch.float64), torch.tensor([1e9, -50.0], dtype=torch.float64)
    rule.step_(rule.init(weights), weights, gradient, torch.zeros_like(weights), adapt=False)
    torch.testing.assert_close(weights, torch.tensor([-1.0, 0.5], dtype=torch.float64), rtol=1e-6, atol=0)
