"""Chains on a GPU: what can be recorded is, all learn, and interrupted ones go on to the same bits."""

import math

import pytest
import torch

from dissensus.posterior import SGHMC, Adam, SamplingSettings, sample_posterior
from dissensus.posterior.chain import Chain
from dissensus.posterior.engines import CapturedEngine, EagerEngine, engine_for
from tests.contracts.test_models import MODELS
from tests.posterior.test_checkpoint import assert_same_run, interrupt_after

pytestmark = pytest.mark.gpu
GPU = "cuda"
VARIANTS = pytest.mark.parametrize("variant", [SamplingSettings.variant_1, SamplingSettings.variant_2])


def made(name):
    make, x = MODELS[name]
    return make(), x.to(GPU)


@pytest.mark.parametrize("name", MODELS)
@VARIANTS
def test_every_model_is_sampled(name, variant):
    """Also those that wait for the device in their objective, whose steps cannot be recorded."""
    model, x = made(name)
    settings = variant(SGHMC(), epochs=6, burn_in=4, chains=2, batch_size=8)
    engine = engine_for([Chain(model, settings, x, 0, 0)])
    assert isinstance(engine, CapturedEngine if model.capturable else EagerEngine)
    draws = sample_posterior(model, x, settings, seed=0, held_out=x[:4])
    assert len(draws) == 6
    kept = [stack for part in draws.parts.values() for stack in part.stacks.values()]
    assert not any(stack.is_cuda for stack in kept)  # draws wait where there is more memory
    assert all(math.isfinite(report.training_elbo) for report in draws.diagnostics.reports)


@pytest.mark.parametrize("name", MODELS)
def test_every_model_learns(name):
    """By Adam: six epochs of a chain on a few dozen inputs may end lower than they began."""
    model, x = made(name)
    settings = SamplingSettings.ensemble(1, 20, Adam(learning_rate=1e-2), batch_size=8)
    reports = sample_posterior(model, x, settings, seed=0, held_out=x[:4]).diagnostics.reports
    assert reports[-1].training_elbo > reports[0].training_elbo


@pytest.mark.parametrize("name", ["VAE of pictures", "VAE of rows", "linear-Gaussian"])
@VARIANTS
def test_interrupted_and_resumed_is_as_if_never_interrupted(name, variant, tmp_path):
    model, x = made(name)
    settings = variant(epochs=4, burn_in=2, chains=2, batch_size=8, adaptation=2)

    def run(**more):
        return sample_posterior(model, x, settings, seed=0, held_out=x[:8], **more)

    with torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=False):
        whole = run()
        for stop in (1, 3):
            with pytest.raises(KeyboardInterrupt):
                run(checkpoint=tmp_path, on_epoch=interrupt_after(stop))
        assert_same_run(run(checkpoint=tmp_path), whole)
