"""Samples from each draw's own encoder, or from the mixture of all of them: both give p(x)."""

import math

import numpy as np
import pytest
import torch
from scipy import stats
from torch import nn

from dissensus import BayesianVAE, Detector
from dissensus.errors import SettingsError
from dissensus.likelihood import log_likelihoods
from dissensus.models import VAE, Gaussian, GenerativeModel
from dissensus.models.importance import importance_samples
from dissensus.posterior import PartDraws, WeightDraws

SCALE = 0.7


@pytest.fixture
def linear():
    """p(x|z) = N(Wz, SCALE² I) with two draws of W, encoders that are a little wrong, and exact log p(x)."""
    generator = torch.Generator().manual_seed(0)
    vae = VAE(nn.Linear(3, 4), nn.Linear(2, 3, bias=False), Gaussian(scale=SCALE), (3,), 2)
    decoders, encoders, biases = [], [], []
    for _ in range(2):
        W = torch.randn(3, 2, generator=generator)
        precision = torch.eye(2) + W.T @ W / SCALE**2
        decoders.append(W)
        encoders.append(torch.cat([0.8 * torch.linalg.solve(precision, W.T) / SCALE**2, torch.zeros(2, 3)]))
        biases.append(torch.cat([torch.zeros(2), 0.1 - 0.5 * precision.diagonal().log()]))
    two = np.arange(2)
    parts = {
        "decoder": PartDraws({"weight": torch.stack(decoders)}, two),
        "encoder": PartDraws({"weight": torch.stack(encoders), "bias": torch.stack(biases)}, two),
    }
    x = torch.randn(6, 3, generator=generator)
    exact = [
        stats.multivariate_normal(np.zeros(3), (W @ W.T).numpy() + SCALE**2 * np.eye(3)).logpdf(x.numpy())
        for W in decoders
    ]
    return vae, WeightDraws(parts, two, two + 1), x, np.array(exact)


@pytest.mark.parametrize("proposal", ["own", "pooled"])
def test_both_estimate_the_exact_likelihood(linear, proposal):
    vae, draws, x, exact = linear
    found = log_likelihoods(vae, draws, x, samples=20_000, proposal=proposal)
    assert (np.abs(found.values - exact) < 5 * found.errors + 1e-3).all()
    assert found.errors.max() < 0.03


def test_the_mixture_s_weight_is_the_three_densities():
    generator = torch.Generator().manual_seed(0)
    mean, log_std = torch.randn(2, 3, 2, generator=generator), torch.randn(2, 3, 2, generator=generator) / 3
    noise = torch.randn(7, 2, generator=generator)
    found = importance_samples(mean, log_std, noise)
    z = found.z.double().numpy()
    for n in range(2):
        for k in range(7):
            np.testing.assert_allclose(
                z[n, k], (mean[n, k % 3] + log_std[n, k % 3].exp() * noise[k]).numpy(), rtol=1e-6
            )
            q = [
                stats.norm(mean[n, e].double(), log_std[n, e].double().exp()).pdf(z[n, k]).prod()
                for e in range(3)
            ]
            expected = stats.norm.logpdf(z[n, k]).sum() - math.log(sum(q) / 3)
            assert found.log_prior_over_q[n, k].item() == pytest.approx(expected, rel=1e-9)


def test_of_one_encoder_the_mixture_is_that_encoder(linear):
    vae, draws, x, _ = linear
    one = draws.select(np.array([1]))
    own, pooled = (
        log_likelihoods(vae, one, x, samples=8, proposal=proposal).values for proposal in ("own", "pooled")
    )
    np.testing.assert_allclose(pooled, own, rtol=1e-9)


def test_rows_that_were_kept_for_one_proposal_are_not_taken_for_the_other(linear, tmp_path):
    vae, draws, x, _ = linear
    own, pooled = (
        log_likelihoods(vae, draws, x, samples=4, proposal=proposal, checkpoint=tmp_path).values
        for proposal in ("own", "pooled")
    )
    assert (own != pooled).all()
    again = log_likelihoods(vae, draws, x, samples=4, proposal="pooled", checkpoint=tmp_path).values
    np.testing.assert_array_equal(again, pooled)


def test_a_detector_takes_either_and_keeps_it(tmp_path):
    rows = np.random.default_rng(0).normal(size=(80, 3))
    quick = {"epochs": 4, "draws": 4, "samples": 4, "false_alarm_rate": 0.2, "device": "cpu", "variant": 2}
    own, pooled = (BayesianVAE(proposal=each, **quick).fit(rows) for each in ("own", "pooled"))
    assert (own.score_samples(rows) != pooled.score_samples(rows)).any()
    pooled.save(tmp_path / "gate")
    again = BayesianVAE.load(tmp_path / "gate", device="cpu")
    assert again.proposal == "pooled"
    np.testing.assert_array_equal(again.score_samples(rows), pooled.score_samples(rows))


def test_another_word_is_refused(linear):
    vae, draws, x, _ = linear
    with pytest.raises(SettingsError, match="proposal must be 'own' or 'pooled'"):
        log_likelihoods(vae, draws, x, proposal="paired")
    with pytest.raises(SettingsError, match="proposal must be 'own' or 'pooled'"):
        BayesianVAE(proposal="mixed").fit(np.zeros((20, 2)))


def test_a_model_that_cannot_pool_is_refused_before_the_fit(linear, monkeypatch):
    vae, draws, x, _ = linear
    monkeypatch.setattr(VAE, "pooled", GenerativeModel.pooled)
    with pytest.raises(SettingsError, match=r"VAE has no pooled\(\): take proposal='own'"):
        log_likelihoods(vae, draws, x, proposal="pooled")
    told = []
    with pytest.raises(SettingsError, match=r"VAE has no pooled\(\)"):
        Detector(model="vae", proposal="pooled", device="cpu").fit(
            np.random.default_rng(0).normal(size=(40, 2)), on_progress=lambda *stage: told.append(stage)
        )
    assert told == []


class SeveralAtOnce(VAE):
    """As a VAE, but its draws may be asked several at once."""

    draws_at_once = 2


def test_several_draws_at_once_pool_as_one_does(linear):
    vae, draws, x, _ = linear
    expected = log_likelihoods(vae, draws, x, samples=8, proposal="pooled").values
    vae.__class__ = SeveralAtOnce
    found = log_likelihoods(vae, draws, x, samples=8, proposal="pooled").values
    np.testing.assert_array_equal(found, expected)
