"""Good chains and bad ones told apart, by made-up numbers and by fits."""

import numpy as np
import pytest
import torch

from dissensus.models import Gaussian, build_vae
from dissensus.posterior import SGHMC, Adam, Diagnostics, EpochReport, SamplingSettings, sample_posterior
from dissensus.posterior.diagnostics import KappaBin, Restart, SamplerHealth
from dissensus.posterior.verdict import LEAST_STEPS

RIGHT = 1.0256


def health(configurational=1.0, heats=(1.0, 1.0, 1.0, 1.0), counts=(60, 20, 10, 10), kappa=0.1, clamped=0.1):
    bins = tuple(KappaBin(count, heat if count else None) for count, heat in zip(counts, heats, strict=True))
    return SamplerHealth(kappa / 9, kappa, 9 * kappa, clamped, RIGHT, configurational, RIGHT, bins)


def run(*chains, epochs=30, adapted=20, steps=100, part="decoder", held_out=None, drawn=20, **rest):
    """Chains that are healthy while they adapt, and after that what they are given as.

    ``held_out`` (C, epochs) is how likely each epoch makes held-out inputs; those after ``drawn`` give draws.
    """
    reports = [
        EpochReport(
            c,
            t,
            -1.0,
            None if held_out is None else float(held_out[c][t - 1]),
            0.1,
            steps,
            t <= adapted,
            {part: health() if t <= adapted else each},
            t > drawn,
        )
        for t in range(1, epochs + 1)
        for c, each in enumerate(chains)
    ]
    return Diagnostics(tuple(reports), **rest)


# As the last epochs of committed runs were: results/paper and results/panel.
@pytest.mark.parametrize("temperature", [0.63, 0.89, 0.96, 1.02, 1.1, 1.23])
def test_chains_that_sample_are_sound(temperature):
    verdict = run(health(temperature), health(0.97)).verdict()
    assert verdict.judged
    assert verdict.sound
    assert (verdict.warning, verdict.remedy) == (None, None)


@pytest.mark.parametrize("temperature", [2.25, 2.94, 3.37, 8.42, -0.7, -0.95, np.nan])
def test_the_failed_chains_of_svhn_are_caught(temperature):
    failed = run(health(temperature, kappa=0.01), epochs=20, adapted=1).verdict(step_size=1e-3)
    assert failed.judged
    assert not failed.sound
    assert failed.problems == (
        "The draws are not from the posterior: the decoder's weights have not settled: their configurational "
        f"temperature is {np.inf if np.isnan(temperature) else temperature:.2g}, right is 1.",
    )
    assert failed.remedy == (
        "Fit again with twice the epochs (epochs=40, --epochs 40), or twice the step size (step_size=0.002, "
        "--step-size 0.002), or longer adaptation (adaptation=13, --adaptation 13)."
    )
    assert failed.warning == f"{failed.problems[0]} {failed.remedy}"


# Held-out log-likelihoods by epoch: results/paper/svhn-vs-cifar10.jsonl, as-published/BVAE1, its first chain.
RISING = """
-2114.41 -2074.81 -2049.39 -2014.1 -1982.08 -1964.64 -1956.78 -1949.04 -1944.02 -1941.38 -1939.55
-1935.3 -1933.99 -1933.23 -1930.35 -1929.7 -1927.36 -1926.17 -1924.5 -1923.91 -1921.25 -1921.07
-1919.85 -1919.36 -1918.61 -1918.8 -1917.66 -1917.16 -1916.26 -1916.48 -1915.64 -1914.63 -1914.19
-1914.53 -1913.68 -1913.51 -1912.47 -1911.75 -1910.9 -1911.35 -1911.85 -1910.62 -1909.92 -1910.28
-1909.47 -1909.45 -1909.88 -1908.94 -1908.45 -1908.4
"""


@pytest.mark.parametrize("temperature", [1.85, 1.54, 1.02])
def test_a_chain_that_is_on_its_way_is_caught_whatever_its_temperature(temperature):
    rising = [float(value) for value in RISING.split()]
    chain = health(temperature, kappa=0.009)
    verdict = run(chain, epochs=50, adapted=11, drawn=14, held_out=[rising]).verdict(step_size=1e-3)
    (problem,) = verdict.problems
    assert problem == (
        "The draws are not from the posterior: they drift: from the first of them to the last, held-out "
        "inputs become 13 nats more likely."
    )
    assert "twice the epochs (epochs=100" in verdict.remedy
    assert "twice the step size (step_size=0.002" in verdict.remedy
    assert "half the step size" not in verdict.remedy


def test_what_comes_before_the_draws_is_no_drift():
    still = np.concatenate([np.linspace(-900, -300, 20), -300 + np.linspace(0, 1.2, 10)])
    jumping = np.concatenate([still[:20], -300 + 30 * np.random.default_rng(0).normal(size=10)])
    assert run(health(), health(), held_out=[still, jumping]).verdict().sound
    assert not run(health(), health(), held_out=[still, jumping], drawn=10).verdict().sound


def test_a_chain_of_several_that_is_thrown_out_is_told_to_take_shorter_steps():
    thrown = np.concatenate([np.full(25, -300.0), np.full(5, -360.0)])
    verdict = run(health(), health(), held_out=[np.full(30, -300.0), thrown]).verdict(step_size=0.01)
    assert "they drift in 1 of 2 chains" in verdict.problems[0]
    assert "nats less likely" in verdict.problems[0]
    assert "half the step size (step_size=0.005" in verdict.remedy


def test_too_long_steps_are_told_from_too_few_of_them():
    """Both show in the configurational temperature; the remedies are opposite."""
    hot = health(3.5, heats=(1.0, 1.1, 1.5, 6.0), counts=(0, 1, 1, 98), kappa=9.9, clamped=0.98)
    verdict = run(hot, health(), health()).verdict(step_size=1e-2)
    assert "too hot in 1 of 3 chains: 98% of them move with 6 times the right energy" in verdict.problems[0]
    assert verdict.remedy == "Fit again with half the step size (step_size=0.005, --step-size 0.005)."
    late = run(health(3.5), health(2.5), health()).verdict(step_size=1e-2)
    assert "have not settled: their configurational temperature is 2.5" in late.problems[0]
    assert late.remedy == "Fit again with twice the epochs (epochs=60, --epochs 60)."


def test_one_chain_of_several_that_has_not_settled_is_a_remark():
    verdict = run(health(3.5), health(), health()).verdict()
    assert verdict.sound
    assert verdict.remarks[0].startswith(
        "The decoder's weights are warmer than they should be in 1 of 3 chains ("
    )
    assert not run(health(20.0), health()).verdict().sound  # the median over two is their mean


def test_hot_weights_are_found_where_a_mean_over_all_of_them_is_right():
    heats, counts = (0.5, 1.0, 1.0, 5.5), (80, 5, 5, 10)
    assert np.average(heats, weights=counts) < 1.1
    assert "too hot: 10% of them" in run(health(heats=heats, counts=counts)).verdict().problems[0]
    stray = run(health(heats=(1.0, 1.0, 1.0, 40.0), counts=(990, 5, 2, 3))).verdict()
    assert stray.sound  # three weights of a thousand are no reason for shorter steps


def test_weights_without_noise_are_cold():
    cold = health(0.3, heats=(1.4, 0.9, 0.4, 0.1), counts=(1, 9, 20, 70), kappa=10.0, clamped=0.7)
    verdict = run(cold, health()).verdict()
    assert "too cold in 1 of 2 chains" in verdict.problems[0]
    assert verdict.remedy == "Fit again with half the step size."  # the present one is not known


def test_weights_that_do_not_move_are_cold_whatever_else_is_right():
    still = run(health(heats=(1.0, 0.8, 0.1, 0.1), counts=(4, 5, 21, 70))).verdict(step_size=0.03)
    assert "too cold: 91% of them hardly move" in still.problems[0]
    assert "step_size=0.015" in still.remedy


def test_the_remedy_starts_from_the_step_that_a_restarted_chain_has():
    hot = health(heats=(9.0,) * 4)
    restarts = tuple(Restart(0, 2, "ran away", {"decoder": 0.1 / 2**times}) for times in (1, 2))
    assert "step_size=0.0125" in run(hot, restarts=restarts).verdict(step_size=0.1).remedy


def test_every_part_is_judged():
    decoder, encoder = run(health()), run(health(6.0), part="encoder")
    both = [
        EpochReport(a.chain, a.epoch, -1.0, None, 0.1, a.steps, a.adapting, {**a.health, **b.health})
        for a, b in zip(decoder.reports, encoder.reports, strict=True)
    ]
    (problem,) = Diagnostics(tuple(both)).verdict().problems
    assert "the encoder's weights" in problem


def test_one_wild_epoch_is_no_failure():
    reports = list(run(health()).reports)
    reports[-1] = EpochReport(0, 30, -1.0, None, 0.1, 100, False, {"decoder": health(1e6, heats=(1e6,) * 4)})
    assert Diagnostics(tuple(reports)).verdict().sound


def test_small_deviations_are_remarks():
    (warm,) = run(health(1.52)).verdict().remarks
    assert warm == (
        "The decoder's weights are warmer than they should be (configurational temperature 1.52, right is 1)."
    )
    still = run(health(heats=(1.0, 0.8, 0.3, 0.0), counts=(40, 10, 10, 40))).verdict()
    assert still.sound
    assert still.remarks[0].startswith("50% of the decoder's weights hardly move")


def test_chains_that_have_not_merged_are_a_remark():
    verdict = run(health(), health(), rhat={30: 1.9}, effective_size=6.4).verdict()
    assert verdict.sound
    assert "have not merged (R̂ 1.90, merged below 1.1)" in verdict.remarks[0]
    assert "worth 6 independent ones" in verdict.remarks[0]
    assert "cannot be told apart" in run(health(), health(), rhat={30: 1.02}).verdict().remarks[0]
    assert run(health()).verdict().remarks == ()


def test_short_runs_and_optimised_ones_are_not_judged():
    short = run(health(50.0), steps=(LEAST_STEPS - 1) // 10).verdict()
    assert (short.judged, short.sound) == (False, True)
    assert short.remarks[0].startswith(
        "Too short to tell whether the chains sample: after adaptation each made 190"
    )
    assert not run(health(50.0), adapted=30).verdict().judged
    few = run(health(50.0, counts=(8, 1, 1, 2))).verdict()
    assert (few.judged, few.remarks[0][:29]) == (False, "Too few weights to tell wheth")
    optimised = Diagnostics((EpochReport(0, 1, -1.0, None, 0.1, 1000, False),)).verdict()
    assert (optimised.judged, optimised.sound, optimised.remarks) == (False, True, ())
    assert not Diagnostics().verdict().judged


def fitted(vectors, scale, step_size, **rest):
    vae = build_vae(
        (6,),
        latent_size=2,
        widths=(8,),
        observation=Gaussian(scale=scale),
        generator=torch.Generator().manual_seed(1),
    )
    settings = SamplingSettings.variant_1(
        SGHMC(step_size), Adam(), batch_size=20, thinning=5, **{"epochs": 60, "burn_in": 39, **rest}
    )
    return sample_posterior(vae, vectors, settings, seed=0).diagnostics.verdict(step_size=step_size)


def test_a_fit_with_sensible_steps_is_sound(vectors):
    verdict = fitted(vectors, 5.0, 3e-2)
    assert verdict.judged
    assert verdict.sound, verdict.warning


def test_a_fit_with_absurd_steps_is_not(vectors):
    verdict = fitted(vectors, 0.5, 0.3, epochs=30, burn_in=9)
    assert verdict.judged
    assert not verdict.sound
    assert "half the step size" in verdict.remedy


def test_a_fit_with_far_too_short_steps_is_not_told_to_shorten_them(vectors):
    verdict = fitted(vectors, 0.5, 1e-3, epochs=30, burn_in=9)
    assert not verdict.sound
    assert "have not settled" in verdict.problems[0]
    assert "half the step size" not in verdict.remedy
