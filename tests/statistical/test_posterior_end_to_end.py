"""The whole driver on a model whose posterior is known: data with unknown mean, decoder = a bias alone."""

import numpy as np
import pytest
import torch
from torch import nn

from dissensus.models import VAE, Gaussian
from dissensus.posterior import (
    SGHMC,
    SGLD,
    SWAG,
    Adam,
    CyclicalSGHMC,
    SamplingSettings,
    Variational,
    sample_posterior,
)

N, D = 256, 400


class Bias(nn.Module):
    """A decoder that ignores z: its only weights are the mean of the data."""

    def __init__(self):
        super().__init__()
        self.mean = nn.Parameter(torch.zeros(D))

    def forward(self, z):
        return self.mean.expand(len(z), D)


class Uninformed(nn.Module):
    """An encoder that always answers with the prior, so that the ELBO is log p(x) itself."""

    def __init__(self):
        super().__init__()
        self.unused = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        zero = x.new_zeros(len(x), 1) + 0 * self.unused
        return zero, zero


@pytest.mark.parametrize("temperature", [1.0, 4.0])
def test_draws_have_the_posterior_s_mean_and_variance(temperature):
    data = torch.randn(N, D, generator=torch.Generator().manual_seed(0)) + 2.0
    vae = VAE(Uninformed(), Bias(), Gaussian(scale=1.0), (D,), 1)
    settings = SamplingSettings.variant_1(
        SGHMC(step_size=1e-2),
        epochs=380,
        burn_in=140,
        thinning=12,
        batch_size=16,
        temperature=temperature,
    )
    draws = sample_posterior(vae, data, settings, seed=0)
    means = draws.parts["decoder"].stacks["mean"][:].numpy().astype(float)
    assert means.shape == (21, D)
    # Prior precision is about 1/4 here and adds next to nothing to N = 256.
    expected_variance = temperature / N
    spread = means.var(axis=0, ddof=1).mean()
    last = draws.diagnostics.reports[-1].health["decoder"]
    # The share κ of the noise is left to the minibatches, which bring less: those of an epoch do not overlap.
    assert (1 - last.kappa_50) * 0.92 < spread / expected_variance < 1.08
    error = means.mean(axis=0) - data.numpy().mean(axis=0)
    assert np.abs(error.mean()) < 4 * np.sqrt(expected_variance / 21 / D) + 2.0 * 0.25 / N
    assert last.kinetic_temperature == pytest.approx(1 / (1 - 0.025), rel=0.2)
    assert last.clamped_share == 0


def posterior_of(rule, **rest):
    """Draws of the mean (M, D) with this rule, and what they were drawn about."""
    data = torch.randn(N, D, generator=torch.Generator().manual_seed(0)) + 2.0
    vae = VAE(Uninformed(), Bias(), Gaussian(scale=1.0), (D,), 1)
    settings = SamplingSettings.variant_1(rule, **{"batch_size": 16, **rest})
    draws = sample_posterior(vae, data, settings, seed=0, held_out=data[:50])
    return (
        draws.parts["decoder"].stacks["mean"][:].double().numpy(),
        data.double().numpy().mean(axis=0),
        draws.diagnostics,
    )


@pytest.mark.parametrize(
    ("rule", "schedule"),
    [
        (SGLD(step_size=2e-3), {"epochs": 240, "burn_in": 120, "thinning": 12}),
        (CyclicalSGHMC(100, 50, step_size=1e-2), {"epochs": 300, "burn_in": 100}),
    ],
    ids=["sgld", "cyclical"],
)
def test_other_samplers_find_the_same_posterior(rule, schedule):
    means, centre, diagnostics = posterior_of(rule, **schedule)
    last = diagnostics.reports[-1].health["decoder"]
    if isinstance(rule, CyclicalSGHMC):
        means = means[1:]  # the first cycle still comes from where the chain started
    spread = (means - centre).var(axis=1).mean()
    assert (1 - last.kappa_50) * 0.9 < spread * N < 1.1
    assert last.kinetic_temperature == pytest.approx(1.0, rel=0.2)
    assert abs((means - centre).mean()) < 0.01
    assert last.clamped_share == 0


def test_the_variational_fit_is_the_posterior_where_that_factorises():
    rule = Variational(Adam(learning_rate=1e-2))
    means, centre, _ = posterior_of(rule, epochs=120, burn_in=120, fitted_draws=50)
    assert means.var(axis=0, ddof=1).mean() * N == pytest.approx(1.0, rel=0.1)
    assert np.abs(means.mean(axis=0) - centre).mean() < 1.5 / np.sqrt(N * 50) + 0.02


@pytest.mark.parametrize("learning_rate", [0.1, 1.0])
def test_swag_tunes_a_scale_that_the_learning_rate_set_wrong(learning_rate):
    """Adam's iterates are too narrow or far too wide by its learning rate; tuned, the grid's step remains."""
    schedule = {"epochs": 40, "burn_in": 20, "fitted_draws": 40}
    rule = SWAG(Adam(learning_rate))
    means, centre, diagnostics = posterior_of(rule, **schedule)
    variance = means.var(axis=0, ddof=1).mean() * N
    untuned = variance / diagnostics.tuned[0]["scale"] ** 2
    assert untuned < 0.5 if learning_rate == 0.1 else untuned > 15
    assert 0.45 < variance < 1.15
    assert np.abs(means.mean(axis=0) - centre).mean() < 1 / np.sqrt(N)
