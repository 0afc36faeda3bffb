"""Cyclical SGHMC: the schedule, the two stages, and what the cycles are for."""

import math

import numpy as np
import pytest
import torch

from dissensus.errors import SettingsError
from dissensus.posterior import SGHMC, CyclicalSGHMC


def step_sizes(rule, steps):
    """ε_t² of every step of one cycle, by the formula."""
    t = np.arange(rule.cycle * steps) / steps
    return rule.step_size**2 / 2 * (np.cos(math.pi * t / rule.cycle) + 1)


def run(rule, weights, gradient_of, *, cycles, steps, generator=None, adapting=False):
    """Weights after every epoch (epochs, ...)."""
    state, history = rule.init(weights), []
    for epoch in range(1, cycles * rule.cycle + 1):
        rule.begin_epoch(state, epoch, steps)
        adapt = adapting and (epoch - 1) % rule.cycle < rule.exploration
        for _ in range(steps):
            noise = torch.zeros_like(weights)
            if generator is not None:
                noise.normal_(generator=generator)
            rule.step_(state, weights, gradient_of(weights), noise, adapt)
        history.append(weights.clone())
    return torch.stack(history), state


def test_without_noise_it_is_heavy_ball_with_a_cosine_step_size():
    rule = CyclicalSGHMC(cycle=4, exploration=2, step_size=0.2, momentum_decay=0.1)
    weights = torch.tensor([1.0, -2.0], dtype=torch.float64)
    theta, v = weights.clone(), torch.zeros(2, dtype=torch.float64)
    eps2 = step_sizes(rule, 5)
    for _ in range(2):
        for number, own in enumerate(eps2):
            v = 0.9 * v - own / (1 + rule.floor) * 4 * theta  # V stays 1 when it is not adapted
            theta = theta + v
            if 10 <= number < 19:  # while it samples, momentum shrinks with the step size
                v = v * math.sqrt(eps2[number + 1] / own)
    run(rule, weights, lambda w: 4 * w, cycles=2, steps=5)
    torch.testing.assert_close(weights, theta, rtol=1e-6, atol=0)


@pytest.mark.parametrize(("cycle", "exploration"), [(30, 18), (60, 30)])
def test_a_cycle_does_not_end_hot(cycle, exploration):
    """Of a Gaussian's weights: without shrinking the momentum, their variance would end at 1.1 and more."""
    rule, generator = CyclicalSGHMC(cycle, exploration, 0.1, noise_correction=0.0), torch.Generator()
    generator.manual_seed(0)
    start = torch.randn(20_000, generator=generator)
    history, state = run(rule, start, lambda w: w, cycles=1, steps=20, generator=generator)
    assert float(history[-1].var()) == pytest.approx(1.0, abs=0.035)
    assert float(rule.motion(state).mean()) == pytest.approx(1 / (1 - 0.025), rel=0.035)


def test_noise_is_injected_in_the_sampling_stage_alone_and_of_sghmc_s_size():
    rule, steps = CyclicalSGHMC(cycle=3, exploration=1, step_size=0.3, noise_correction=1.0), 4
    weights = torch.zeros(1, dtype=torch.float64)
    state, seen = rule.init(weights), []
    for epoch in range(1, 4):
        rule.begin_epoch(state, epoch, steps)
        for _ in range(steps):
            before = weights + (1 - rule.momentum_decay) * state.momentum
            rule.step_(state, weights, torch.zeros(1), torch.ones(1), adapt=False)
            seen.append(float(weights - before))
    eps2 = step_sizes(rule, steps)
    expected = np.sqrt(2 * eps2 * rule.momentum_decay - eps2**2)
    expected[:steps] = 0
    np.testing.assert_allclose(seen, expected, rtol=1e-6)


def test_at_a_step_size_that_hardly_falls_it_is_sghmc():
    """Just after exploration of a very long cycle ε_t ≈ ε: same noise, same steps."""
    rule, plain = CyclicalSGHMC(cycle=10**6, exploration=1, step_size=0.05), SGHMC(step_size=0.05)
    one, other = (torch.tensor([0.5, -1.0], dtype=torch.float64) for _ in range(2))
    state, twin = rule.init(one), plain.init(other)
    rule.begin_epoch(state, 2, 1)
    random = torch.Generator().manual_seed(0)
    for step in range(30):
        noise = torch.randn(2, generator=random, dtype=torch.float64)
        rule.step_(state, one, 9 * one + 1, noise, adapt=step < 10)
        plain.step_(twin, other, 9 * other + 1, noise, adapt=step < 10)
    torch.testing.assert_close(one, other, rtol=1e-6, atol=0)


def test_draws_at_cycle_ends_have_the_posterior_s_spread():
    curvature, gradient_noise, size = 100.0, 10_000.0, 20_000
    random = torch.Generator().manual_seed(3)

    def gradient(w):
        other = torch.randn(size, generator=random, dtype=torch.float64)
        return curvature * w + gradient_noise**0.5 * other

    rule = CyclicalSGHMC(cycle=10, exploration=4, step_size=2e-2)
    weights = torch.zeros(size, dtype=torch.float64)
    history, state = run(rule, weights, gradient, cycles=1, steps=250, generator=random, adapting=True)
    assert float(history[-1].var()) == pytest.approx(1 / curvature, rel=0.05)
    assert float(history[3].var()) < 0.7 / curvature  # exploration is colder: no noise but the gradient's
    # Though the last steps were a thousand times shorter than the first.
    assert rule.sampled(state)
    assert float(rule.motion(state).mean()) == pytest.approx(1 / (1 - 0.025), rel=0.1)


def mixture_gradient(w, distance=1.0, std=0.15):
    """∇U of ½ N(−d, s²) + ½ N(d, s²): ((w − d·tanh(wd/s²))/s²)."""
    return (w - distance * torch.tanh(w * distance / std**2)) / std**2


def plain_chain(step_size, gradient, random):
    """Where SGHMC with a step size that does not change ends, started in the right-hand mode."""
    rule, weights = SGHMC(step_size=step_size), torch.ones(1000, dtype=torch.float64)
    state = rule.init(weights)
    for step in range(6000):
        noise = torch.randn(1000, generator=random, dtype=torch.float64)
        rule.step_(state, weights, gradient(weights), noise, adapt=step < 500)
    return weights


def test_several_modes_are_visited_and_each_is_sampled():
    """Two modes 13 deviations apart, 1,000 chains started in one: short steps never leave it, long ones blur
    both, cycles do both."""
    random = torch.Generator().manual_seed(0)

    def gradient(w):
        return mixture_gradient(w) + 40 * torch.randn(w.shape, generator=random, dtype=w.dtype)

    rule = CyclicalSGHMC(cycle=10, exploration=5, step_size=0.2)
    weights = torch.ones(1000, dtype=torch.float64)
    history, _ = run(rule, weights, gradient, cycles=6, steps=100, generator=random, adapting=True)
    ends = history[9::10]
    crossed = ((ends[1:] > 0) != (ends[:-1] > 0)).any(0)
    assert crossed.double().mean() > 0.9
    assert 0.4 < (ends > 0).double().mean() < 0.6
    assert float((ends.abs() - 1).std()) == pytest.approx(0.15, rel=0.15)
    assert (plain_chain(0.05, gradient, random) > 0).all()
    blurred = plain_chain(0.2, gradient, random)
    assert (blurred < 0).double().mean() > 0.2
    assert float((blurred.abs() - 1).std()) > 2 * 0.15


@pytest.mark.parametrize(
    "wrong",
    [
        {"step_size": 0.0},
        {"momentum_decay": 1.0},
        {"exploration": 10},
        {"exploration": 0},
    ],
)
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        CyclicalSGHMC(**{"cycle": 10, "exploration": 5, **wrong})
