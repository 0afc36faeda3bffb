"""A chain that may not start again stops, says where, and leaves the last good checkpoint alone."""

import re

import pytest
import torch

from dissensus.errors import DivergenceError
from dissensus.posterior import SGHMC, Adam, SamplingSettings, sample_posterior
from dissensus.posterior.engines import EagerEngine

STEPS = 10


def settings_with(rule, **rest):
    return SamplingSettings(
        rule=rule,
        inference=None,
        **{"epochs": 6, "burn_in": 2, "batch_size": 200 // STEPS, "restarts": 0, **rest},
    )


def poison(monkeypatch, chain, epoch, alter):
    """Lets one chain go wrong in one epoch."""
    run = EagerEngine.run_epoch

    def run_epoch(self, now):
        trace = run(self, now)
        if now == epoch:
            alter(self.chains[chain], trace[chain])
        return trace

    monkeypatch.setattr(EagerEngine, "run_epoch", run_epoch)


def nan_elbo(chain, trace):
    trace[3:] = torch.nan


def infinite_weight(chain, trace):
    chain.parts["encoder"].weights[5] = torch.inf


def absurd_weights(chain, trace):
    chain.parts["decoder"].weights.mul_(1e4)


@pytest.mark.parametrize("step_size", [0.5, 2.0, 10.0, 1e4])
@pytest.mark.parametrize("variant", [SamplingSettings.variant_1, SamplingSettings.variant_2])
def test_huge_step_size_stops_with_step_epoch_and_step_size(vectors, vector_vae, variant, step_size):
    settings = variant(SGHMC(step_size=step_size), epochs=20, batch_size=20, adaptation=1, restarts=0)
    with pytest.raises(DivergenceError) as caught:
        sample_posterior(vector_vae, vectors, settings, seed=0)
    message = str(caught.value)
    assert re.search(r"step \d+ of epoch \d+|\d+ steps of epoch \d+", message)
    assert f"decoder {step_size:g}" in message
    assert "lower the step size" in message
    assert "last finite diagnostics" in message or "no finite epoch before it" in message


def test_absurd_from_the_first_epoch_on_is_refused(vectors, vector_vae):
    """Finite throughout, and later epochs are no worse than the first: only the start can tell."""
    with pytest.raises(DivergenceError, match=r"runs away: .* epoch 1, from .* at its start"):
        sample_posterior(
            vector_vae, vectors, settings_with(Adam(learning_rate=1000.0), epochs=1, burn_in=1), seed=0
        )


@pytest.mark.parametrize(
    ("alter", "what"),
    [
        (nan_elbo, "became non-finite at step 4 of epoch 3"),
        (infinite_weight, f"became non-finite at step {STEPS} of epoch 3"),
        (absurd_weights, f"runs away: its loss is .*e[+].* after {STEPS} steps of epoch 3"),
    ],
)
def test_error_names_chain_step_epoch_rates_and_last_finite_diagnostics(
    vectors, vector_vae, monkeypatch, alter, what
):
    poison(monkeypatch, 1, 3, alter)
    seen = []
    with pytest.raises(DivergenceError, match=what) as caught:
        sample_posterior(
            vector_vae,
            vectors,
            settings_with(SGHMC(step_size=0.02), chains=2),
            seed=0,
            on_epoch=lambda reports: seen.append(reports),
        )
    message = str(caught.value)
    last = seen[-1][1]
    assert message.startswith("chain 1 ")
    assert "step sizes: decoder 0.02, encoder 0.02" in message
    assert f"last finite diagnostics, epoch 2: objective {last.training_elbo:.5g}" in message
    for network, health in last.health.items():
        assert f"{network} kinetic temperature {health.kinetic_temperature:.3g}" in message
        assert f"κ median {health.kappa_50:.3g}" in message
    assert len(seen) == 2
    assert "nan" not in message


def test_learning_rate_of_an_optimised_network_is_named(vectors, vector_vae, monkeypatch):
    poison(monkeypatch, 0, 2, nan_elbo)
    settings = SamplingSettings.variant_1(
        SGHMC(step_size=0.02), Adam(learning_rate=0.003), epochs=2, batch_size=20, restarts=0
    )
    with pytest.raises(DivergenceError, match=r"decoder 0\.02, encoder 0\.003"):
        sample_posterior(vector_vae, vectors, settings, seed=0)


@pytest.mark.parametrize("alter", [nan_elbo, infinite_weight, absurd_weights])
def test_diverged_epoch_leaves_no_trace_in_the_checkpoint(vectors, vector_vae, monkeypatch, tmp_path, alter):
    settings = settings_with(SGHMC())
    whole = sample_posterior(vector_vae, vectors, settings, seed=0)
    with monkeypatch.context() as patch:
        poison(patch, 0, 3, alter)
        with pytest.raises(DivergenceError):
            sample_posterior(vector_vae, vectors, settings, seed=0, checkpoint=tmp_path)
    assert not list(tmp_path.glob("*epoch00003*"))
    epochs = []
    resumed = sample_posterior(
        vector_vae,
        vectors,
        settings,
        seed=0,
        checkpoint=tmp_path,
        on_epoch=lambda reports: epochs.append(reports[0].epoch),
    )
    assert epochs == [3, 4, 5, 6]
    assert all(
        torch.equal(resumed.parts["decoder"].stacks[name][:], whole.parts["decoder"].stacks[name][:])
        for name in whole.parts["decoder"].stacks
    )


@pytest.mark.parametrize("seed", range(15))
def test_tiny_but_healthy_runs_are_not_stopped(vectors, vector_vae, seed):
    """A few steps an epoch and an untrained encoder's σ: the training ELBO jumps by orders of magnitude."""
    settings = SamplingSettings.variant_2(epochs=8, burn_in=4, batch_size=100, chains=2)
    draws = sample_posterior(vector_vae, vectors, settings, seed=seed)
    assert len(draws) == 10
