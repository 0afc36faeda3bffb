"""The VAE's numbers against a model with a known likelihood, and what it refuses."""

import math

import numpy as np
import pytest
import torch
from scipy import stats
from torch import nn

from dissensus.errors import SettingsError
from dissensus.models import VAE, Bernoulli, Gaussian, build_vae
from dissensus.models.importance import importance_samples
from dissensus.models.vae.model import LOG_STD_RANGE

D, Z, SCALE = 5, 2, 0.5


class LinearEncoder(nn.Module):
    """q(z|x) = N(Ax + a, diag σ²), as the pair (mean, log σ)."""

    def __init__(self, matrix, log_std):
        super().__init__()
        self.matrix, self.log_std = nn.Parameter(matrix), nn.Parameter(log_std)

    def forward(self, x):
        mean = x @ self.matrix.T
        return mean, self.log_std.expand_as(mean)


@pytest.fixture
def linear_gaussian():
    """A VAE with p(x|z) = N(Wz, SCALE²I), its exact log p(x), and some inputs, in float64."""
    generator = torch.Generator().manual_seed(0)
    W = torch.randn(D, Z, generator=generator, dtype=torch.float64)
    decoder = nn.Linear(Z, D, bias=False, dtype=torch.float64)
    decoder.weight.data = W
    precision = torch.eye(Z, dtype=torch.float64) + W.T @ W / SCALE**2
    posterior_mean = torch.linalg.solve(precision, W.T) / SCALE**2
    # A little wrong, so that the bound is not tight.
    encoder = LinearEncoder(0.9 * posterior_mean, -0.5 * precision.diagonal().log() + 0.2)
    vae = VAE(encoder, decoder, Gaussian(scale=SCALE), (D,), Z)
    x = torch.randn(4, D, generator=generator, dtype=torch.float64)
    covariance = (W @ W.T).numpy() + SCALE**2 * np.eye(D)
    exact = torch.from_numpy(stats.multivariate_normal(np.zeros(D), covariance).logpdf(x.numpy()))
    return vae, x, exact


def noise_of(K, latents, seed):
    return torch.randn(K, latents, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def log_weights_of(vae, x, noise):
    """The log-weight of each importance sample of each row: (K, N)."""
    z, log_prior_over_q = importance_samples(*vae.infer(x), noise)
    log_p = [vae.log_prob(x, points) for points in z.unbind(1)]
    return torch.stack(log_p) + log_prior_over_q.T


@torch.no_grad()
def test_bound_is_below_importance_sampling_is_below_exact(linear_gaussian):
    vae, x, exact = linear_gaussian
    K = 20_000
    log_weights = log_weights_of(vae, x, noise_of(K, Z, seed=1))
    elbo = vae.objective(x.repeat(K, 1), noise_of(K * len(x), Z, seed=2)).reshape(K, len(x)).mean(0)
    few = torch.logsumexp(log_weights.reshape(K // 5, 5, -1), 1).mean(0) - math.log(5)
    many = torch.logsumexp(log_weights, 0) - math.log(K)
    assert (elbo < few).all()
    assert (few < exact).all()
    torch.testing.assert_close(many, exact, rtol=0, atol=0.03)
    value, error = vae.log_likelihood(x, noise_of(K, Z, seed=1), vae.infer(x))
    torch.testing.assert_close(value, many, rtol=1e-10, atol=0)
    assert ((value - exact).abs() < 5 * error).all()
    torch.testing.assert_close(log_weights.mean(0), elbo, rtol=0, atol=0.1)  # the ELBO is the mean log weight


@torch.no_grad()
def test_expected_bound_has_its_closed_form(linear_gaussian):
    """E[log p(x|z)] under q is Gaussian algebra, and KL is torch's own."""
    vae, x, _ = linear_gaussian
    mean, log_std = vae.encode(x)
    W, variance = vae.decoder.weight, (2 * log_std).exp()
    error = (x - mean @ W.T).square().sum(1) + (variance @ W.square().T).sum(1)
    expected_log_p = -0.5 * error / SCALE**2 - D * math.log(SCALE * math.sqrt(2 * math.pi))
    normal = torch.distributions.Normal
    kl = torch.distributions.kl_divergence(normal(mean, log_std.exp()), normal(0.0, 1.0)).sum(1)
    K = 40_000
    noise = torch.randn(K, Z, generator=torch.Generator().manual_seed(3), dtype=x.dtype)
    noise = torch.cat([noise, -noise])
    for row in range(len(x)):
        elbo = vae.elbo(x[row].expand(2 * K, D), noise).mean()
        assert elbo.item() == pytest.approx((expected_log_p - kl)[row].item(), abs=0.05)


@torch.no_grad()
def test_log_weight_is_the_three_densities(linear_gaussian):
    vae, x, _ = linear_gaussian
    mean, log_std = (part.numpy() for part in vae.infer(x))
    noise = 3 * noise_of(6, Z, seed=4)
    z = mean + np.exp(log_std) * noise.numpy()[:, None]
    expected = (
        stats.norm(z @ vae.decoder.weight.numpy().T, SCALE).logpdf(x.numpy()).sum(2)
        + stats.norm(0, 1).logpdf(z).sum(2)
        - stats.norm(mean, np.exp(log_std)).logpdf(z).sum(2)
    )
    np.testing.assert_allclose(log_weights_of(vae, x, noise).numpy(), expected, rtol=1e-12)


def test_log_weight_of_the_exact_posterior_is_constant():
    """With one latent, q can be the exact posterior: then every weight is p(x)."""
    W = torch.tensor([[0.7], [-1.2]], dtype=torch.float64)
    precision = 1 + W.square().sum() / SCALE**2
    decoder = nn.Linear(1, 2, bias=False, dtype=torch.float64)
    decoder.weight.data = W
    encoder = LinearEncoder(W.T / SCALE**2 / precision, -0.5 * precision.log().reshape(1))
    vae = VAE(encoder, decoder, Gaussian(scale=SCALE), (2,), 1)
    x = torch.tensor([[0.3, 2.0]], dtype=torch.float64)
    exact = stats.multivariate_normal(np.zeros(2), (W @ W.T).numpy() + SCALE**2 * np.eye(2)).logpdf(
        x.numpy()[0]
    )
    with torch.no_grad():
        log_weights = log_weights_of(vae, x, noise_of(50, 1, seed=0))
    np.testing.assert_allclose(log_weights.numpy(), exact, rtol=1e-11)


def test_gradient_of_the_bound(linear_gaussian):
    vae, x, _ = linear_gaussian
    noise = torch.randn(len(x), Z, generator=torch.Generator().manual_seed(5), dtype=x.dtype)
    names, values = zip(*vae.named_parameters(), strict=True)

    def elbo(*parameters):
        return torch.func.functional_call(vae, dict(zip(names, parameters, strict=True)), (x, noise))

    assert torch.autograd.gradcheck(elbo, values)


def test_results_are_double_precision_for_single_precision_networks():
    vae = build_vae((1, 8, 8), generator=torch.Generator().manual_seed(0))
    x, noise = torch.rand(3, 1, 8, 8), torch.randn(3, vae.latent_size)
    inferred = vae.infer(x)
    assert [part.dtype for part in inferred] == [torch.float32, torch.float32]
    assert vae.objective(x, noise).dtype == torch.float64
    assert vae.log_prob(x, inferred[0]).dtype == torch.float64
    assert importance_samples(*inferred, noise).log_prior_over_q.dtype == torch.float64
    assert [part.dtype for part in vae.log_likelihood(x, noise, inferred)] == [torch.float64, torch.float64]


@pytest.mark.parametrize("size", [1e3, 1e6])
def test_foreign_inputs_cannot_overflow(size):
    vae = build_vae((6,), observation="gaussian", generator=torch.Generator().manual_seed(0))
    x = size * torch.tensor([[1.0, -1, 1, 1, -1, 1], [-1, 1, -1, 1, 1, -1]])
    mean, log_std = inferred = vae.infer(x)
    assert log_std.min() >= LOG_STD_RANGE[0]
    assert log_std.max() <= LOG_STD_RANGE[1]
    ones = torch.ones(2, vae.latent_size)
    assert vae.objective(x, ones).isfinite().all()
    assert vae.log_prob(x, mean).isfinite().all()
    for part in vae.log_likelihood(x, ones * torch.tensor([[0.0], [1.0]]), inferred):
        assert part.isfinite().all()


def test_one_tensor_or_a_pair_from_the_encoder():
    joint = nn.Linear(3, 4)

    class Pair(nn.Module):
        def __init__(self):
            super().__init__()
            self.joint = joint

        def forward(self, x):
            return tuple(self.joint(x).chunk(2, 1))

    x, noise = torch.rand(5, 3), torch.randn(5, 2)
    one = VAE(joint, nn.Linear(2, 3), Bernoulli(), (3,), 2)
    two = VAE(Pair(), one.decoder, Bernoulli(), (3,), 2)
    assert torch.equal(one.elbo(x, noise), two.elbo(x, noise))


class Distribution(nn.Module):
    def forward(self, x):
        return torch.distributions.Normal(x, 1.0)


class Noisy(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(2, 200), nn.Linear(200, 3)

    def forward(self, z):
        return self.second(nn.functional.dropout(self.first(z), 0.5))


@pytest.mark.parametrize(
    ("encoder", "decoder", "message"),
    [
        (nn.Linear(3, 5), nn.Linear(2, 3), r"encoder.*\(2, 2\).*\(2, 4\); got \(2, 5\)"),
        (nn.Linear(7, 4), nn.Linear(2, 3), r"encoder: cannot take a tensor of shape \(2, 3\)"),
        (Distribution(), nn.Linear(2, 3), r"encoder.*got Normal"),
        (nn.Linear(3, 4), Distribution(), r"decoder.*got Normal"),
        (nn.Linear(3, 4), nn.Linear(2, 4), r"decoder.*\(2, 1, 3\).*bernoulli.*got \(2, 4\)"),
        (nn.Linear(3, 4), nn.Sequential(nn.Linear(2, 3), nn.Flatten(0)), r"decoder.*got \(6,\)"),
        (nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)), nn.Linear(2, 3), "encoder: BatchNorm1d at '1'"),
        (nn.Linear(3, 4), nn.Sequential(nn.Linear(2, 3), nn.Dropout()), "decoder: Dropout at '1'"),
        (nn.Linear(3, 4), Noisy(), "same row gave different outputs"),
    ],
)
def test_modules_that_do_not_fit_are_refused(encoder, decoder, message):
    with pytest.raises(SettingsError, match=message):
        VAE(encoder, decoder, Bernoulli(), (3,), 2)


@pytest.mark.parametrize(("shape", "latent_size"), [((), 2), ((0,), 2), ((3,), 0)])
def test_senseless_sizes_are_refused(shape, latent_size):
    with pytest.raises(SettingsError, match=r"input_shape|latent_size"):
        VAE(nn.Identity(), nn.Identity(), Bernoulli(), shape, latent_size)


def test_an_encoder_with_a_clip_sees_far_inputs_as_less_far(linear_gaussian):
    free, x, _ = linear_gaussian
    clipped = VAE(free.encoder, free.decoder, free.observation, (D,), Z, clip=3.0)
    far = 100 * x
    for one, other in zip(clipped.encode(far), free.encode(far.clamp(-3, 3)), strict=True):
        assert torch.equal(one, other)
    # The likelihood is of the input itself.
    noise = torch.zeros(len(x), Z, dtype=torch.float64)
    assert (clipped.elbo(far, noise) < clipped.elbo(far / 10, noise)).all()


@pytest.mark.parametrize("clip", [0, -1.0, math.nan])
def test_a_clip_must_be_positive(linear_gaussian, clip):
    vae, _, _ = linear_gaussian
    with pytest.raises(SettingsError, match="clip="):
        VAE(vae.encoder, vae.decoder, vae.observation, (D,), Z, clip=clip)
