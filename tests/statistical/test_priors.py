"""The Gibbs step of the Gamma hyperprior has the marginal it must have."""

import numpy as np
import pytest
import torch
from scipy import stats
from torch import nn

from dissensus.errors import SettingsError
from dissensus.models import VAE, Gaussian
from dissensus.posterior import GammaHyperprior, SamplingSettings
from dissensus.posterior.chain import Chain
from dissensus.posterior.flat import Layout


@pytest.mark.parametrize("temperature", [0.1, 0.5, 1.0, 1.5])
@pytest.mark.parametrize(("shape", "rate"), [(1.0, 1.0), (3.0, 0.5)])
def test_marginal_of_a_weight_is_student_t(shape, rate, temperature):
    """Alternating w | λ and λ | w at temperature T, w ends up Student-t, as p(w, λ)^(1/T) has it.

    Its degrees of freedom are ν = 2(a₀ − ½)/T + 1, for T = 1 2a₀, and its scale is √(2b₀/ν).
    """
    size = 3_000
    layout = Layout(tuple(f"w{i}" for i in range(size)), ((1,),) * size)
    hyperprior, random = GammaHyperprior(shape, rate).at(temperature), np.random.default_rng(0)
    weights = torch.full((size,), 5.0)
    for _ in range(15):
        precision = hyperprior.resample(weights, layout, random).numpy()
        deviation = np.sqrt(temperature / precision)
        weights = torch.tensor(random.normal(size=size) * deviation, dtype=torch.float32)
    freedom = 2 * (shape - 0.5) / temperature + 1
    exact = stats.t(freedom, scale=(2 * rate / freedom) ** 0.5)
    assert stats.kstest(weights.numpy(), exact.cdf).pvalue > 1e-3


def test_one_precision_a_tensor_with_the_conditional_mean():
    layout = Layout(("a", "b"), ((100, 20), (5,)))
    weights = torch.cat([torch.full((2000,), 0.1), torch.full((5,), 2.0)])
    random = np.random.default_rng(1)
    drawn = torch.stack([GammaHyperprior(1, 1).resample(weights, layout, random) for _ in range(4000)])
    assert (drawn[:, :2000] == drawn[:, :1]).all()
    assert (drawn[:, 2000:] == drawn[:, 2000:2001]).all()
    assert float(drawn[:, 0].double().mean()) == pytest.approx((1 + 1000) / (1 + 10), rel=0.01)
    assert float(drawn[:, -1].double().mean()) == pytest.approx((1 + 2.5) / (1 + 10), rel=0.05)


@pytest.mark.parametrize("temperature", [0.5, 1.0])
def test_one_precision_a_part_is_gamma_of_all_its_weights(temperature):
    """λ | w ~ Γ((a₀ − 1 + n/2)/T + 1, (b₀ + ‖w‖²/2)/T) with n and ‖w‖ over every tensor of the part."""
    layout = Layout(("a", "b"), ((20, 2), (5,)))
    weights = torch.cat([torch.full((40,), 0.1), torch.full((5,), 2.0)])
    hyperprior = GammaHyperprior(2.0, 0.5, per_part=True).at(temperature)
    random = np.random.default_rng(2)
    drawn = torch.stack([hyperprior.resample(weights, layout, random) for _ in range(3000)])
    assert (drawn == drawn[:, :1]).all()
    shape = (2.0 - 1 + 45 / 2) / temperature + 1
    rate = (0.5 + (40 * 0.1**2 + 5 * 2.0**2) / 2) / temperature
    assert stats.kstest(drawn[:, 0].numpy(), stats.gamma(shape, scale=1 / rate).cdf).pvalue > 1e-3
    expected = hyperprior.expected(weights.square(), layout)
    torch.testing.assert_close(expected, torch.full((45,), shape / rate), rtol=1e-5, atol=0)


def test_a_part_without_weights_has_no_precision():
    nothing = GammaHyperprior(per_part=True).resample(
        torch.empty(0), Layout((), ()), np.random.default_rng(0)
    )
    assert nothing.shape == (0,)


def test_expected_precision_is_the_mean_of_the_gibbs_step():
    layout = Layout(("a", "b"), ((30, 4), (5,)))
    weights = torch.randn(125, generator=torch.Generator().manual_seed(0))
    hyperprior, random = GammaHyperprior(2, 0.5), np.random.default_rng(1)
    drawn = torch.stack([hyperprior.resample(weights, layout, random) for _ in range(4000)]).double().mean(0)
    torch.testing.assert_close(
        hyperprior.expected(weights.square(), layout).double(), drawn, rtol=0.03, atol=0
    )


def test_impossible_hyperprior_is_refused():
    with pytest.raises(SettingsError, match="positive"):
        GammaHyperprior(shape=0)


class Weights(nn.Module):
    """A decoder of many weights that have a prior each."""

    def __init__(self, count):
        super().__init__()
        self.each = nn.ParameterList([nn.Parameter(torch.zeros(1)) for _ in range(count)])

    def forward(self, z):
        return z.new_zeros(len(z), 2) + 0 * torch.cat(list(self.each)).sum()


@pytest.mark.parametrize("temperature", [0.5, 1.0])
def test_a_chain_draws_its_precisions_at_its_temperature(temperature):
    """λ | w at temperature T has the mean ((a₀ − ½)/T + 1) T / (b₀ + w²/2), which is 4/5 of that at T = 1."""
    model = VAE(nn.Linear(2, 2), Weights(200), Gaussian(scale=1.0), (2,), 1)
    hyperprior = GammaHyperprior(2.0, 1.0)
    settings = SamplingSettings.variant_1(epochs=200, temperature=temperature, hyperprior=hyperprior)
    chain = Chain(model, settings, torch.zeros(16, 2), 0, seed=0)
    decoder = chain.parts["decoder"]
    decoder.weights.copy_(torch.linspace(-2, 2, 200))
    found = []
    for epoch in range(1, 201):
        chain.begin_epoch(epoch)
        found.append(decoder.precision.clone())
    scaled = torch.stack(found).double() * (1 + decoder.weights.double().square() / 2)
    shape = 1.5 / temperature + 1
    assert float(scaled.mean()) == pytest.approx(shape * temperature, rel=0.02)
    assert float(scaled.var()) == pytest.approx(shape * temperature**2, rel=0.05)
