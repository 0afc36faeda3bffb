"""The numbers that tell whether a chain samples."""

import json
import math

import numpy as np
import pytest
import torch
from torch import nn

from dissensus.posterior import (
    SGHMC,
    SGLD,
    Adam,
    CyclicalSGHMC,
    Diagnostics,
    EpochReport,
    Potential,
    SamplerHealth,
    SamplingSettings,
    sample_posterior,
)
from dissensus.posterior.convergence import LEAST_FOR_SIZE, bulk_size
from dissensus.posterior.diagnostics import KappaBin, sampler_health
from dissensus.posterior.part import Part


def sampled_part(rule, size):
    part = Part(nn.Linear(size, 1, bias=False), rule, Potential(10, 5))
    assert part.weights.shape == (size,)
    return part


def test_health_of_a_hand_made_state():
    rule = SGHMC(step_size=0.1, momentum_decay=0.25)
    part = sampled_part(rule, 101)
    # √V = 0, 1, ..., 100, so κ = 0.02·√V: 0, 0.02, ..., 2 in some order; clamped where κ ≥ 1.
    roots = torch.arange(101.0)[torch.randperm(101, generator=torch.Generator().manual_seed(0))] + 1e-3
    part.state.mean_square.copy_(roots.square())
    part.state.momentum.copy_(3.0 * rule.step_size * (roots + rule.floor).rsqrt())
    part.virial.fill_(12.0)
    health = sampler_health(part, steps=8)
    assert (health.kappa_05, health.kappa_50, health.kappa_95) == pytest.approx((0.1, 1.0, 1.9), rel=1e-3)
    assert health.clamped_share == pytest.approx(51 / 101)
    assert health.kinetic_temperature == pytest.approx(9.0, rel=1e-5)  # v is 3 thermal deviations everywhere
    assert health.configurational_temperature == pytest.approx(1.5)
    assert [each.count for each in health.by_kappa] == [5, 20, 25, 51]  # edges belong to the bin above
    assert [each.heat for each in health.by_kappa] == pytest.approx(
        [9.0 / rule.right_temperature] * 4, rel=1e-5
    )


def test_a_mean_hides_hot_weights_beside_cold_ones():
    """Half of the weights do not move and half move too much: on average all looks well, by κ it does not."""
    rule = SGHMC(step_size=0.1, momentum_decay=0.25)
    part = sampled_part(rule, 100)
    roots = torch.cat([torch.full((50,), 1.0), torch.full((50,), 100.0)])
    part.state.mean_square.copy_(roots.square())
    thermal = rule.step_size * roots.rsqrt() * rule.right_temperature**0.5
    part.state.momentum.copy_(thermal * torch.cat([torch.full((50,), 2**0.5), torch.zeros(50)]))
    health = sampler_health(part, 1)
    assert health.kinetic_temperature == pytest.approx(health.right_temperature, rel=1e-5)
    little, some, much, most = health.by_kappa
    assert (little.count, some.count, much.count, most.count) == (50, 0, 0, 50)
    assert little.heat == pytest.approx(2.0, rel=1e-5)
    assert (some.heat, much.heat, most.heat) == (None, None, 0.0)


def test_without_noise_correction_nothing_is_clamped():
    part = sampled_part(SGHMC(step_size=1.0, noise_correction=0.0), 4)
    part.state.mean_square.fill_(1e6)
    assert sampler_health(part, 1).clamped_share == 0


def test_clamped_is_where_the_step_injects_nothing():
    """The share agrees with what a step does: a coordinate is clamped if its noise has no effect."""
    rule = SGHMC(step_size=0.3)
    part = sampled_part(rule, 200)
    part.state.mean_square.copy_(torch.logspace(-4, 4, 200))
    share = sampler_health(part, 1).clamped_share
    before = part.weights.clone()
    rule.step_(part.state, part.weights, torch.zeros(200), torch.full((200,), 1e3), adapt=False)
    assert share == pytest.approx(float((part.weights == before).double().mean()))
    assert 0.1 < share < 0.9


def test_virial_is_the_mean_of_weights_times_gradient_of_the_potential():
    part = sampled_part(SGHMC(step_size=1e-6), 3)
    part.precision.fill_(2.0)
    expected = 0.0
    for scale in (1.0, -0.5):
        w, g = part.weights.clone(), torch.tensor([1.0, 2.0, 3.0]) * scale
        part.parameters.gradient.copy_(g)
        expected += float(w @ (10 / 5 * g + 2.0 * w)) / 3
        part.step_(part.draw_noise(torch.Generator().manual_seed(0)), adapt=True)
    assert sampler_health(part, 2).configurational_temperature == pytest.approx(expected / 2, rel=1e-5)


def test_what_is_optimised_or_empty_has_no_health():
    assert sampler_health(sampled_part(Adam(), 3), 1) is None
    assert sampler_health(Part(nn.Flatten(), SGHMC(), Potential(10, 5)), 1) is None


@pytest.mark.parametrize("rule", [SGLD(step_size=0.02), CyclicalSGHMC(4, 1, step_size=0.1)])
def test_health_of_the_other_samplers(rule):
    part = sampled_part(rule, 50)
    part.begin_epoch(1, 2)
    for _ in range(2):
        part.step_(part.draw_noise(torch.Generator().manual_seed(0)), adapt=True)
    first = sampler_health(part, 2)
    assert (first is None) == isinstance(rule, CyclicalSGHMC)  # a chain that explores is not sampling
    part.begin_epoch(2, 2)
    random = torch.Generator().manual_seed(0)
    for _ in range(2):
        part.step_(part.draw_noise(random), adapt=False)
    health = sampler_health(part, 2)
    assert health.kappa_50 == pytest.approx(float(rule.kappa(part.state).median()), rel=0.1)
    assert health.kinetic_temperature == pytest.approx(float(rule.motion(part.state).mean()))
    assert health.clamped_share == float((rule.kappa(part.state) >= 1).double().mean())


def test_round_trip_through_json():
    bins = (KappaBin(5, 1.1), KappaBin(0, None), KappaBin(1, math.inf), KappaBin(0, None))
    health = SamplerHealth(0.1, 0.2, 0.3, 0.0, 1.0256, math.inf, 1.0256, bins)
    diagnostics = Diagnostics(
        (
            EpochReport(0, 1, -200.5, None, 0.1, 7, adapting=True),
            EpochReport(1, 1, -1 / 3, -7.25, 0.2, 7, False, {"decoder": health, "encoder": health}),
        ),
        {4: 1.01, 10: math.inf},
        12.5,
        {0: {"scale": 0.25}, 1: {"scale": 1.0}},
    )
    assert Diagnostics.from_dict(json.loads(json.dumps(diagnostics.to_dict()))) == diagnostics
    assert Diagnostics.from_dict(Diagnostics().to_dict()) == Diagnostics()


@pytest.mark.parametrize("chains", [1, 2])
def test_rhat_appears_with_the_fourth_kept_epoch(vectors, vector_vae, chains):
    settings = SamplingSettings.variant_2(epochs=12, burn_in=2, thinning=2, chains=chains, batch_size=50)
    seen = []
    draws = sample_posterior(
        vector_vae, vectors, settings, seed=0, held_out=vectors[:30], on_epoch=seen.append
    )
    diagnostics = draws.diagnostics
    assert list(diagnostics.rhat) == ([8, 10, 12] if chains > 1 else [])  # one chain tells nothing
    assert diagnostics.effective_size is None  # six draws a chain do not tell it
    assert all(value > 0.7 for value in diagnostics.rhat.values())
    assert [report for reports in seen for report in reports] == list(diagnostics.reports)
    assert [(r.epoch, r.chain) for r in diagnostics.reports] == [
        (t, c) for t in range(1, 13) for c in range(chains)
    ]
    assert all(set(r.health) == {"decoder", "encoder"} for r in diagnostics.reports)
    without = sample_posterior(vector_vae, vectors, settings, seed=0).diagnostics
    assert without.rhat == {}
    assert without.effective_size is None
    assert all(r.held_out_log_likelihood is None for r in without.reports)
    assert [r.training_elbo for r in without.reports] == [r.training_elbo for r in diagnostics.reports]


@pytest.mark.parametrize(("chains", "epochs"), [(1, 11), (2, 10), (2, 11)])
def test_the_effective_size_is_given_for_several_chains_of_ten_draws(vectors, vector_vae, chains, epochs):
    settings = SamplingSettings.variant_1(epochs=epochs, burn_in=2, chains=chains, batch_size=50)
    draws = sample_posterior(vector_vae, vectors, settings, seed=0, held_out=vectors[:30])
    found = draws.diagnostics.effective_size
    assert (found is not None) == (chains == 2 and epochs == 11)
    assert found is None or 0 < found < 20 * np.log10(20)
    assert draws.diagnostics.health()["effective_size"] == found


def test_chains_that_lie_apart_are_worth_few_draws():
    """Ten draws a chain tell it; fewer never would, so no size is given for them."""
    noise = np.random.default_rng(0).normal(size=(2, LEAST_FOR_SIZE, 50))
    apart = noise + 10 * np.arange(2)[:, None, None]
    assert np.median(bulk_size(apart)) < 8 < 20 < np.median(bulk_size(noise))
    few = apart[:, : LEAST_FOR_SIZE - 1]
    assert np.median(bulk_size(few)) > few.shape[0] * few.shape[1]
