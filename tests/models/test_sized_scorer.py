"""Compiled code is taken where it pays, its warm-up counted; the matrix says how much there is to do."""

import numpy as np
import pytest
import torch

from dissensus.likelihood import log_likelihoods
from dissensus.models import VAE, build_vae
from dissensus.models.vae import half_precision, scorer
from dissensus.posterior import SamplingSettings, sample_posterior


@pytest.fixture(scope="module")
def vae():
    return build_vae((1, 8, 8), latent_size=3, widths=(8,), generator=torch.Generator().manual_seed(1))


@pytest.fixture
def asked(monkeypatch):
    """Whether compiled code was asked for, each time."""
    found = []
    monkeypatch.setattr(scorer, "_scorer", lambda *_, compiled: found.append(compiled))
    return found


def test_the_warm_up_is_counted(vae, asked, monkeypatch):
    monkeypatch.setattr(scorer, "WARM_UP", 10.0)
    monkeypatch.setattr(scorer, "EAGER", 1e6)
    monkeypatch.setattr(scorer, "COMPILED", 2e6)
    noise = torch.zeros(4, 3)
    scorer.sized_scorer(vae, noise, 16, 19_000_000)  # half of 19 s would be saved, and 10 s spent
    scorer.sized_scorer(vae, noise, 16, 21_000_000)
    assert asked == [False, True]


def test_what_is_warm_is_used(vae, asked, monkeypatch):
    monkeypatch.setattr(half_precision, "_warm", {half_precision._shapes(vae, torch.zeros(4, 3), 16)})
    scorer.sized_scorer(vae, torch.zeros(4, 3), 16, 1)
    scorer.sized_scorer(vae, torch.zeros(5, 3), 16, 1)  # other shapes are compiled anew
    scorer.sized_scorer(vae, torch.zeros(4, 3), 32, 1)
    assert asked == [True, False, False]


def test_a_matrix_by_size_tells_the_model_how_much_there_is_and_a_cpu_gives_the_same_bits(vae, monkeypatch):
    data = torch.randint(0, 256, (30, 1, 8, 8), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)
    draws = sample_posterior(vae, data, SamplingSettings.variant_1(epochs=2, batch_size=15), seed=0)
    told, own = set(), VAE.scorer_for
    monkeypatch.setattr(
        VAE, "scorer_for", lambda self, noise, tile, n: (told.add(n), own(self, noise, tile, n))[1]
    )
    plain = log_likelihoods(vae, draws, data, samples=4)
    assert not told
    sized = log_likelihoods(vae, draws, data, samples=4, by_size=True)
    assert told == {len(draws) * 30 * 4}
    np.testing.assert_array_equal(sized.values, plain.values)


@pytest.mark.gpu
def test_on_a_gpu_a_large_matrix_agrees_and_leaves_the_compiler_warm(vae, monkeypatch):
    monkeypatch.setattr(scorer, "WARM_UP", 0.0)
    monkeypatch.setattr(half_precision, "_warm", set())
    data = torch.randint(
        0, 256, (300, 1, 8, 8), generator=torch.Generator().manual_seed(0), dtype=torch.uint8
    ).cuda()
    settings = SamplingSettings.variant_1(epochs=2, batch_size=50)
    draws = sample_posterior(vae, data, settings, seed=0)
    plain = log_likelihoods(vae, draws, data, samples=8, device="cuda")
    sized = log_likelihoods(vae, draws, data, samples=8, device="cuda", by_size=True)
    assert half_precision._warm
    assert np.abs(sized.values - plain.values).max() <= 2 * half_precision.TOLERANCE
