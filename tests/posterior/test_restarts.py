"""A chain that runs away is started again with half the step size; the other chains do not notice."""

import logging

import pytest
import torch

from dissensus.errors import DivergenceError, SettingsError
from dissensus.posterior import SGHMC, SGLD, SWAG, Adam, SamplingSettings, Variational, sample_posterior
from dissensus.posterior.diagnostics import Diagnostics
from dissensus.posterior.engines import EagerEngine

SETTINGS = SamplingSettings.variant_1(SGHMC(0.02), epochs=6, burn_in=3, chains=2, batch_size=20)


@pytest.fixture
def second_chain_runs_away(monkeypatch):
    """Chain 1 leaves the finite numbers in epoch 4, unless its step size is at most 0.01."""
    run = EagerEngine.run_epoch

    def run_epoch(self, epoch):
        trace = run(self, epoch)
        for number, chain in enumerate(self.chains):
            if chain.index == 1 and epoch == 4 and chain.parts["decoder"].rule.step_size > 0.01:
                trace[number] = torch.nan
        return trace

    monkeypatch.setattr(EagerEngine, "run_epoch", run_epoch)


def weights(draws, chain):
    rows = torch.from_numpy(draws.chain == chain)
    return {name: stack[:][rows] for name, stack in draws.parts["decoder"].stacks.items()}


def assert_equal(left, right):
    assert all(torch.equal(left[name], right[name]) for name in right)


@pytest.mark.usefixtures("second_chain_runs_away")
def test_only_the_chain_that_ran_away_starts_again(vectors, vector_vae, monkeypatch):
    mixed = sample_posterior(vector_vae, vectors, SETTINGS, seed=3, held_out=vectors[:20])
    monkeypatch.undo()
    fast = sample_posterior(vector_vae, vectors, SETTINGS, seed=3, held_out=vectors[:20])
    slow = sample_posterior(vector_vae, vectors, SETTINGS.slower(1), seed=3, held_out=vectors[:20])
    assert_equal(weights(mixed, 0), weights(fast, 0))
    assert_equal(weights(mixed, 1), weights(slow, 1))
    elbos = {(r.chain, r.epoch): r.training_elbo for r in mixed.diagnostics.reports}
    for run, chain in ((fast, 0), (slow, 1)):
        assert all(
            elbos[r.chain, r.epoch] == r.training_elbo for r in run.diagnostics.reports if r.chain == chain
        )
    assert set(mixed.diagnostics.rhat) == set(fast.diagnostics.rhat)


@pytest.mark.usefixtures("second_chain_runs_away")
def test_it_is_said_in_the_log_and_in_the_diagnostics(vectors, vector_vae, caplog):
    with caplog.at_level(logging.WARNING, "dissensus"):
        draws = sample_posterior(vector_vae, vectors, SETTINGS, seed=3)
    (restart,) = draws.diagnostics.restarts
    assert (restart.chain, restart.epoch) == (1, 4)
    assert restart.step_sizes == {"decoder": 0.01, "encoder": 0.001}
    assert caplog.messages == [
        "chain 1 became non-finite at step 1 of epoch 4; it was started again with half the step size "
        "(now decoder 0.01, encoder 0.001)"
    ]
    assert Diagnostics.from_dict(draws.diagnostics.to_dict()) == draws.diagnostics


@pytest.mark.usefixtures("second_chain_runs_away")
@pytest.mark.parametrize("stop_after", [3, 4, 5])
def test_an_interrupted_run_goes_on_to_the_same_bits(vectors, vector_vae, tmp_path, stop_after):
    whole = sample_posterior(vector_vae, vectors, SETTINGS, seed=3)

    def stop(reports):
        if reports[0].epoch == stop_after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sample_posterior(vector_vae, vectors, SETTINGS, seed=3, checkpoint=tmp_path, on_epoch=stop)
    resumed = sample_posterior(vector_vae, vectors, SETTINGS, seed=3, checkpoint=tmp_path)
    for chain in (0, 1):
        assert_equal(weights(resumed, chain), weights(whole, chain))
    assert resumed.diagnostics.restarts == whole.diagnostics.restarts


def test_what_still_diverges_is_an_error(vectors, vector_vae):
    settings = SamplingSettings.variant_2(SGHMC(1e6), epochs=3, batch_size=20, restarts=2)
    with pytest.raises(DivergenceError, match="decoder 250000, encoder 250000"):
        sample_posterior(vector_vae, vectors, settings, seed=0)


def test_a_step_size_that_was_too_large_becomes_one_that_works(vectors, vector_vae):
    settings = SamplingSettings.variant_1(SGHMC(2.0), epochs=5, batch_size=20, restarts=12)
    draws = sample_posterior(vector_vae, vectors, settings, seed=0)
    sizes = [restart.step_sizes["decoder"] for restart in draws.diagnostics.restarts]
    assert sizes == [2.0 / 2**times for times in range(1, len(sizes) + 1)]
    assert all(torch.isfinite(stack[:]).all() for stack in draws.parts["decoder"].stacks.values())


@pytest.mark.parametrize("rule", [SGHMC(), SGLD(), Adam(), SWAG(), Variational()])
def test_every_rule_has_a_slower_form(rule):
    assert 0 < rule.slower().step_size < rule.step_size


def test_what_is_optimised_beside_a_sampler_keeps_its_rate():
    slow = SETTINGS.slower(3)
    assert (slow.rule.step_size, slow.inference.step_size) == (0.02 / 8, SETTINGS.inference.step_size)
    ensemble = SamplingSettings.ensemble(2, 3).slower(1)
    assert ensemble.rule.step_size == ensemble.inference.step_size == Adam().step_size / 2


@pytest.mark.parametrize("restarts", [-1, 1.5, None])
def test_restarts_must_be_a_whole_number(restarts):
    with pytest.raises(SettingsError, match="restarts must be a whole number"):
        SETTINGS.with_(restarts=restarts)
