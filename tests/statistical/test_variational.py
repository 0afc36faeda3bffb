"""Mean-field variational inference finds the optimum that is known in closed form."""

import numpy as np
import pytest
import torch
from torch import nn

from dissensus.errors import SettingsError
from dissensus.models import VAE, Gaussian
from dissensus.posterior import Adam, GammaHyperprior, SamplingSettings, Variational, sample_posterior
from dissensus.posterior.chain import Chain
from dissensus.posterior.engines import EagerEngine

N, D, SIGMA, LAMBDA = 240, 4, 0.5, 3.0


class Known(nn.Module):
    """An encoder that reads the regressors off the input: z = x[:2] without noise worth the name."""

    def forward(self, x):
        return x[:, :2], x.new_full((len(x), 2), -10.0)


class Regression(nn.Module):
    """A decoder whose first two outputs are z itself and the rest linear in it."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, z):
        return torch.cat([z, self.layer(z)], dim=1)


class Convolved(nn.Module):
    """The same linear map as a convolution over a sequence of length one."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, D, 1, bias=False)

    def forward(self, z):
        return self.conv(z[:, :, None])[:, :, 0]


class Bare(nn.Module):
    """The same linear map with a weight that belongs to no known layer."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(D, 2))

    def forward(self, z):
        return z @ self.weight.T


LAYERS = {"linear": lambda: nn.Linear(2, D, bias=False), "convolution": Convolved, "bare": Bare}


def regression_data():
    random = np.random.default_rng(0)
    z = random.normal(size=(N, 2)) @ np.array([[1.0, 0.9], [0.0, 0.5]])  # correlated: correlation 0.87
    y = z @ random.normal(size=(2, D)) + SIGMA * random.normal(size=(N, D))
    return z, y, torch.tensor(np.concatenate([z, y], axis=1), dtype=torch.float32)


# A temperature is the potential's business, which knows of no layers.
@pytest.mark.parametrize(("layer", "temperature"), [*((layer, 1.0) for layer in LAYERS), ("linear", 4.0)])
def test_regression_has_the_exact_mean_and_the_mean_field_variance(layer, temperature):
    """The posterior has precision A = ZᵀZ/σ² + λI; the best q its mean, and variances T/diag(A)."""
    z, y, data = regression_data()
    vae = VAE(Known(), Regression(LAYERS[layer]()), Gaussian(scale=SIGMA), (2 + D,), 2)
    settings = SamplingSettings.variant_1(
        Variational(Adam(learning_rate=1e-2)),
        epochs=400,
        burn_in=400,
        batch_size=60,
        temperature=temperature,
        hyperprior=GammaHyperprior(LAMBDA * 1e8, 1e8),  # a precision that is known
        fitted_draws=2000,
    )
    draws = sample_posterior(vae, data, settings, seed=0)
    (stack,) = draws.parts["decoder"].stacks.values()
    weights = stack[:].reshape(2000, D, 2).double().numpy()
    A = z.T @ z / SIGMA**2 + LAMBDA * np.eye(2)
    mean = np.linalg.solve(A, z.T @ y / SIGMA**2).T
    variance = temperature / np.diag(A)
    exact = temperature * np.diag(np.linalg.inv(A))
    assert (exact > 3 * variance).all()  # a factorised q cannot be mistaken for the posterior here
    np.testing.assert_allclose(weights.var(0), np.broadcast_to(variance, (D, 2)), rtol=0.4)
    assert weights.var(0).mean(0) == pytest.approx(variance, rel=0.2)
    assert np.abs(weights.mean(0) - mean).max() < 0.5 * np.sqrt(exact.max() / temperature)
    assert draws.epoch.tolist() == [400] * 2000


def test_precision_is_the_hyperprior_s_mean_under_q():
    """Coordinate ascent: λ = (a + n/2)/(b + E‖w‖²/2), E‖w‖² = ‖μ‖² + Σσ²."""
    _, _, data = regression_data()
    vae = VAE(Known(), Regression(nn.Linear(2, D)), Gaussian(scale=SIGMA), (2 + D,), 2)
    rule = Variational(initial_std=0.7)
    settings = SamplingSettings.variant_1(rule, epochs=2, burn_in=2, batch_size=60, fitted_draws=1)
    chain = Chain(vae, settings, data, 0, 0)
    means = chain.parts["decoder"].parameters.layout.split(chain.parts["decoder"].weights.clone())
    chain.begin_epoch(1)
    precisions = chain.parts["decoder"].parameters.layout.split(chain.parts["decoder"].precision)
    for name, mean in means.items():
        n = mean.numel()
        expected = (1 + n / 2) / (1 + (float(mean.square().sum()) + n * 0.49) / 2)
        torch.testing.assert_close(precisions[name], torch.full_like(mean, expected))


def test_what_the_data_say_nothing_about_returns_to_the_prior():
    """A weight behind a zero input: σ² = 1/λ and μ = 0 at the optimum."""
    random = torch.Generator().manual_seed(0)
    data = torch.cat([torch.zeros(100, 2), torch.randn(100, D, generator=random)], dim=1)
    vae = VAE(Known(), Regression(nn.Linear(2, D, bias=False)), Gaussian(scale=1.0), (2 + D,), 2)
    settings = SamplingSettings.variant_1(
        Variational(Adam(learning_rate=1e-2)),
        epochs=300,
        burn_in=300,
        batch_size=50,
        hyperprior=GammaHyperprior(4e8, 1e8),
        fitted_draws=1,
    )
    chain = Chain(vae, settings, data, 0, 0)
    engine = EagerEngine([chain])
    for epoch in range(1, 301):
        engine.run_epoch(epoch)
    std = chain.parts["decoder"].state.log_std.exp()
    torch.testing.assert_close(std, torch.full_like(std, 0.5), rtol=0.05, atol=0)
    assert chain.parts["decoder"].weights.abs().max() < 0.05


@pytest.mark.parametrize("std", [0.0, -1.0, float("nan")])
def test_impossible_settings_are_refused(std):
    with pytest.raises(SettingsError, match="initial_std"):
        Variational(initial_std=std)
