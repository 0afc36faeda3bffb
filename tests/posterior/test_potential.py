"""Minibatch gradients are unbiased for the exact potential of all data."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.errors import SettingsError
from dissensus.models import Gaussian, build_vae
from dissensus.posterior import Potential

N, Z = 24, 2


def double_vae():
    generator = torch.Generator().manual_seed(0)
    return build_vae(
        (3,), latent_size=Z, widths=(5,), observation=Gaussian(scale=0.7), generator=generator
    ).double()


def flat_gradient(value, parameters):
    return torch.cat([g.flatten() for g in torch.autograd.grad(value, parameters)])


@pytest.mark.parametrize("network", ["decoder", "encoder"])
@pytest.mark.parametrize("batch", [1, 4, 12, 24])
@pytest.mark.parametrize("temperature", [1.0, 0.25, 3.0])
def test_mean_over_a_partition_is_the_gradient_of_the_exact_potential(network, batch, temperature):
    vae, random = double_vae(), torch.Generator().manual_seed(1)
    x = torch.randn(N, 3, generator=random, dtype=torch.float64)
    noise = torch.randn(N, Z, generator=random, dtype=torch.float64)
    parameters = list(getattr(vae, network).parameters())
    precisions = [3.0 + k for k in range(len(parameters))]

    log_prior = sum(-0.5 * lam * p.square().sum() for lam, p in zip(precisions, parameters, strict=True))
    exact = flat_gradient((-vae.elbo(x, noise).sum() - log_prior) / temperature, parameters)

    weights = torch.cat([p.detach().flatten() for p in parameters])
    precision = torch.cat(
        [torch.full((p.numel(),), lam).double() for lam, p in zip(precisions, parameters, strict=True)]
    )
    potential = Potential(N, batch, temperature)
    estimates = [
        potential.full_gradient_(
            flat_gradient(-vae.elbo(x[rows], noise[rows]).sum(), parameters), weights, precision
        )
        for rows in torch.randperm(N, generator=random).view(-1, batch)
    ]
    torch.testing.assert_close(torch.stack(estimates).mean(0), exact, rtol=1e-11, atol=1e-11)


@settings(derandomize=True, deadline=None, max_examples=50)
@given(
    n=st.integers(1, 100_000),
    batch=st.integers(1, 1000),
    temperature=st.floats(0.01, 100),
    gradient=st.floats(-100, 100),
    weight=st.floats(-10, 10),
    precision=st.floats(0, 100),
)
def test_formula_and_in_place(n, batch, temperature, gradient, weight, precision):
    g, w, lam = (torch.tensor([v], dtype=torch.float64) for v in (gradient, weight, precision))
    result = Potential(n, batch, temperature).full_gradient_(g, w, lam)
    assert result is g
    expected = (n / batch * gradient + precision * weight) / temperature
    assert float(g) == pytest.approx(expected, rel=1e-12, abs=1e-9)
    assert (float(w), float(lam)) == (weight, precision)


def test_optimised_networks_get_the_batch_mean_without_prior_or_temperature():
    gradient = torch.tensor([8.0, -4.0])
    assert Potential(1000, 4, 5.0).mean_gradient_(gradient).tolist() == [2.0, -1.0]


@pytest.mark.parametrize("temperature", [0.0, -1.0, float("nan")])
def test_impossible_temperature_is_refused(temperature):
    with pytest.raises(SettingsError, match="temperature"):
        Potential(10, 5, temperature)
