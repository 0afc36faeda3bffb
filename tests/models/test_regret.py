"""Likelihood regret: against a model whose best posterior is known."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from dissensus.errors import SettingsError
from dissensus.models import VAE, Gaussian
from dissensus.models.vae import likelihood_regret

SCALE = 0.5
LOADING = torch.tensor([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]])  # orthogonal: the best posterior is factorised


class FixedEncoder(nn.Module):
    """mean = 0, σ = 1 for every input: the prior."""

    def __init__(self):
        super().__init__()
        self.shift = nn.Parameter(torch.zeros(2))

    def forward(self, x):
        return self.shift.expand(len(x), 2), torch.zeros(len(x), 2, dtype=x.dtype, device=x.device)


def linear_vae():
    decoder = nn.Linear(2, 3, bias=False)
    with torch.no_grad():
        decoder.weight.copy_(LOADING)
    return VAE(FixedEncoder(), decoder, Gaussian(scale=SCALE), (3,), 2)


def exact_regret(x):
    """KL from the prior to the true posterior, which is in the family: what the ELBO has to gain."""
    precision = 1 + (LOADING.numpy() ** 2).sum(axis=0) / SCALE**2
    mean = (LOADING.numpy().T @ x) / SCALE**2 / precision
    # KL(N(0, 1) ‖ N(mean, 1/precision)) for each of the two latents
    return float(np.sum(0.5 * (precision * (1 + mean**2) - 1 - np.log(precision))))


def test_equals_the_divergence_from_the_true_posterior():
    x = torch.tensor([[0.0, 0.0, 0.0], [1.0, -1.0, 0.5], [0.3, 2.0, -1.0], [-2.0, 0.0, 3.0]])
    found = likelihood_regret(linear_vae(), x, steps=600, samples=64)
    expected = np.array([exact_regret(row) for row in x.double().numpy()])
    # The gain is an average over 512 z ~ N(0, 1), the same for all inputs.
    np.testing.assert_allclose(found, expected, rtol=0.12)
    assert (np.argsort(found) == np.argsort(expected)).all()


def test_what_is_explained_already_has_nothing_to_regret():
    vae = linear_vae()
    precision = 1 + (LOADING**2).sum(0) / SCALE**2
    vae.encoder.forward = lambda x: (
        (x @ LOADING) / SCALE**2 / precision,
        (-0.5 * precision.log()).expand(len(x), 2),
    )
    found = likelihood_regret(vae, torch.randn(6, 3, generator=torch.Generator().manual_seed(0)))
    np.testing.assert_allclose(found, 0, atol=0.1)


def test_an_input_s_regret_depends_on_nothing_but_itself(image_vaes, images):
    def ask(rows):
        return likelihood_regret(image_vaes[0], rows, steps=5, samples=8)

    whole = ask(images)
    assert (whole > 0).all()
    np.testing.assert_allclose(np.concatenate([ask(images[n : n + 1]) for n in range(17)]), whole, rtol=1e-3)
    np.testing.assert_allclose(ask(images.flip(0))[::-1], whole, rtol=1e-3)
    assert ask(images[:0]).shape == (0,)


def test_the_noise_is_a_function_of_the_seed_and_the_vae_is_left_alone(image_vaes, images):
    vae = image_vaes[0]
    first, again, other = (
        likelihood_regret(vae, images[:3], steps=3, samples=2, seed=seed) for seed in (0, 0, 1)
    )
    assert np.array_equal(first, again)
    assert (first != other).all()
    assert all(parameter.requires_grad and parameter.grad is None for parameter in vae.parameters())


def test_progress_and_settings(image_vaes, images):
    seen = []
    likelihood_regret(image_vaes[0], images, steps=1, samples=4, on_tile=seen.append)
    assert sum(seen) == len(images)
    assert math.ceil(len(images) / 16) == len(seen)
    for wrong in ({"steps": 0}, {"samples": 0}, {"learning_rate": 0.0}, {"learning_rate": math.nan}):
        with pytest.raises(SettingsError, match="must all be positive"):
            likelihood_regret(image_vaes[0], images, **wrong)
