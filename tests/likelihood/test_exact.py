"""Where p(x|θ) is known in closed form: a linear decoder with Gaussian noise."""

import numpy as np
import pytest
import torch
from scipy import stats
from torch import nn

from dissensus.likelihood import log_likelihoods, noise_floor
from dissensus.models import VAE, Gaussian, build_vae
from dissensus.models.importance import importance_log_likelihood, importance_samples

D, Z, SIGMA = 5, 2, 0.8


class LinearGaussian:
    """x = W z + b + σ·noise, with W's columns orthogonal so that the posterior of z is diagonal.

    ``shift`` and ``widen`` spoil the encoder, which is the exact posterior without them.
    """

    def __init__(self, shift=0.0, widen=1.0):
        random = np.random.default_rng(0)
        self.W = np.linalg.qr(random.normal(size=(D, Z)))[0] * [1.5, 0.7]
        self.b = random.normal(size=D)
        variance = 1 / (1 + (self.W**2).sum(0) / SIGMA**2)
        gain = variance[:, None] * self.W.T / SIGMA**2
        encoder, decoder = nn.Linear(D, 2 * Z), nn.Linear(Z, D)
        with torch.no_grad():
            decoder.weight.copy_(torch.tensor(self.W))
            decoder.bias.copy_(torch.tensor(self.b))
            encoder.weight.copy_(torch.tensor(np.vstack([gain, np.zeros((Z, D))])))
            encoder.bias.copy_(
                torch.tensor(np.concatenate([shift - gain @ self.b, np.log(widen * np.sqrt(variance))]))
            )
        self.vae = VAE(encoder, decoder, Gaussian(scale=SIGMA), (D,), Z)
        self.data = torch.tensor(random.normal(size=(12, D)) * 1.5, dtype=torch.float32)
        covariance = self.W @ self.W.T + SIGMA**2 * np.eye(D)
        self.truth = stats.multivariate_normal(self.b, covariance).logpdf(self.data.numpy().astype(float))


@pytest.mark.parametrize("samples", [1, 2, 3, 32, 65])
def test_exact_for_any_number_of_samples_if_the_encoder_is_the_posterior(draws_of, samples):
    model = LinearGaussian()
    matrix = log_likelihoods(model.vae, draws_of([model.vae]), model.data, samples=samples, seed=5)
    np.testing.assert_allclose(matrix.values[0], model.truth, rtol=0, atol=2e-5)
    if samples > 1:
        assert matrix.errors.max() < 1e-5


@pytest.mark.parametrize(("shift", "widen"), [(0.0, 1.5), (0.3, 1.0), (-0.2, 1.2)])
def test_within_the_stated_error_of_the_truth(draws_of, shift, widen):
    model = LinearGaussian(shift, widen)
    matrix = log_likelihoods(model.vae, draws_of([model.vae]), model.data, samples=20_000)
    assert 1e-4 < matrix.errors.max() < 0.02
    assert (np.abs(matrix.values[0] - model.truth) < 4 * matrix.errors[0]).all()


def test_empirical_spread_is_the_stated_error(draws_of):
    """Over 200 noises; and their mean is the truth, less half the variance that the logarithm costs."""
    model = LinearGaussian(0.15, 1.2)
    draws = draws_of([model.vae])
    runs = [log_likelihoods(model.vae, draws, model.data, samples=64, seed=seed) for seed in range(200)]
    values, errors = (np.stack([getattr(run, what)[0] for run in runs]) for what in ("values", "errors"))
    spread = values.std(axis=0, ddof=1)
    np.testing.assert_allclose(errors.mean(axis=0), spread, rtol=0.2)
    bias = values.mean(axis=0) - (model.truth - spread**2 / 2)
    assert (np.abs(bias) < 4 * spread / np.sqrt(200)).all()

    floors = [noise_floor(model.vae, draws, model.data, samples=64, seed=seed) for seed in range(0, 200, 2)]
    overall = np.sqrt((spread**2).mean())
    assert np.sqrt(np.mean(np.square(floors))) == pytest.approx(overall, rel=0.2)


def test_the_stated_bias_is_the_bias_where_many_samples_share_the_weight(draws_of):
    model = LinearGaussian(0.0, 2.0)  # wider than the posterior: no weight is much larger than the others
    draws, one = draws_of([model.vae]), model.data[:1]
    runs = [log_likelihoods(model.vae, draws, one, samples=8, seed=seed) for seed in range(600)]
    values, stated = (np.array([getattr(run, what)[0, 0] for run in runs]) for what in ("values", "biases"))
    off = values - model.truth[0]
    standard_error = off.std(ddof=1) / np.sqrt(len(runs))
    assert off.mean() < -3 * standard_error  # there is one
    assert stated.mean() == pytest.approx(off.mean(), abs=2 * standard_error)
    assert (stated <= 0).all()


def test_a_single_sample_cannot_tell_its_bias(draws_of):
    model = LinearGaussian(0.15, 1.2)
    assert np.isnan(log_likelihoods(model.vae, draws_of([model.vae]), model.data, samples=1).biases).all()


def test_stated_error_shrinks_with_the_root_of_the_samples(draws_of):
    model = LinearGaussian(0.15, 1.2)
    few, many = (
        log_likelihoods(model.vae, draws_of([model.vae]), model.data, samples=k).errors.mean()
        for k in (256, 256 * 16)
    )
    assert few / many == pytest.approx(4, rel=0.2)


def test_double_precision_inputs_are_scored_and_left_as_they_are():
    """In float64 a conversion to float64 is no copy: what is squared in place would be squared for good."""
    random = torch.Generator().manual_seed(0)
    vae = build_vae((6,), latent_size=2, generator=random)
    x, noise = torch.randn(5, 6, generator=random), torch.randn(4, 2, generator=random)
    with torch.no_grad():
        single, _ = importance_log_likelihood(vae.log_prob, x, importance_samples(*vae.encode(x), noise))
        vae.double()
        double, _ = importance_log_likelihood(
            vae.log_prob, x.double(), importance_samples(*vae.encode(x.double()), noise.double())
        )
    torch.testing.assert_close(double, single, rtol=1e-5, atol=1e-5)
