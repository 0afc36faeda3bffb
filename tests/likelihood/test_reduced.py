"""Half precision is used only where it was shown to be good enough, and never shows beyond its tolerance."""

import copy

import numpy as np
import pytest
import torch
from dissensus.likelihood.reduced import TOLERANCE, ReducedScorer
from dissensus.likelihood.scorer import ReferenceScorer, compiled_scorer, tile_scorer
from torch import nn

from dissensus.likelihood import log_likelihoods
from dissensus.likelihood.rows import AHEAD
from dissensus.models import VAE, build_vae
from dissensus.models.importance import importance_log_likelihood, importance_samples

on_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


@pytest.fixture(params=[1, 4], ids=lambda samples: f"K={samples}")
def case(request):
    random = torch.Generator().manual_seed(0)
    vae = build_vae((1, 16, 16), latent_size=4, widths=(6, 8), hidden=8, generator=random)
    x = torch.rand(5, 1, 16, 16, generator=random)
    noise = torch.randn(request.param, 4, generator=random)
    return vae, x, noise


def test_it_agrees_with_single_precision_within_its_tolerance(case):
    vae, x, noise = case
    scorer = ReducedScorer(vae, noise)
    with torch.inference_mode():
        scorer.load()
        assert scorer.trusted
        encoding = vae.encode(x)
        value, error = scorer(x, *encoding)
        exact, exact_error = importance_log_likelihood(vae, x, importance_samples(*encoding, noise))
    assert (value - exact).abs().max() <= TOLERANCE
    assert (value != exact).any()  # it is another way, not the same one
    torch.testing.assert_close(error, exact_error, rtol=0, atol=0.05, equal_nan=True)


def test_what_half_precision_cannot_hold_it_cannot_tell(case):
    vae, x, noise = case
    scorer = ReducedScorer(vae, noise)
    with torch.inference_mode():
        scorer.load()
        mean, log_std = vae.encode(x)
        usual, _ = scorer(x, mean, log_std)
        mean[2] *= 1e6
        value, _ = scorer(x, mean, log_std)
    assert value[2].isnan()
    others = [0, 1, 3, 4]
    assert value[others].tolist() == usual[others].tolist()  # a neighbour's fate changes nothing


def times(vae, factor):
    other = copy.deepcopy(vae)
    with torch.no_grad():
        for parameter in other.decoder.parameters():
            parameter *= factor
    return other


@pytest.mark.parametrize("before", [False, True], ids=["", "after weights that do"])
def test_under_weights_that_do_not_bear_it_it_is_not_used(case, before):
    good, x, noise = case
    vae = copy.deepcopy(good)
    scorer = ReducedScorer(vae, noise)
    with torch.inference_mode():
        if before:
            scorer.load()
        vae.decoder.load_state_dict(times(good, 30.0).decoder.state_dict())
        scorer.load()
        encoding = vae.encode(x)
        value, _ = scorer(x, *encoding)
        exact, _ = importance_log_likelihood(vae, x, importance_samples(*encoding, noise))
    assert not scorer.trusted
    assert value.isnan().all() if before else torch.equal(value, exact)


def has_far_inputs(vae):
    """An encoder that sends every input with a bright first pixel where half precision overflows."""

    class Far(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = vae.encoder

        def forward(self, x):
            mean, log_std = self.encoder(x).chunk(2, dim=1)
            return torch.where(x[:, 0, :1, 0] == 1, 1e8, 1.0) * mean, log_std

    return VAE(Far(), vae.decoder, vae.observation, vae.input_shape, vae.latent_size)


def check_what_is_scored_again(case, draws_of, encoder_of, device, make, rtol, unbearable=2):
    """Inputs that overflow, and a whole draw, come out as in single precision, the others do not."""
    vae, _, noise = case
    factors = [1.0, 1.1, 0.95, 0.9]
    factors[unbearable] = 30.0
    vaes = [has_far_inputs(times(vae, factor)) for factor in factors]
    random = torch.Generator().manual_seed(5)
    x = torch.randint(0, 255, (75, 1, 16, 16), dtype=torch.uint8, generator=random)
    far = np.array([3, 17, 70])
    x[far, 0, 0, 0] = 255
    exact, found = (
        log_likelihoods(
            vaes[0], draws_of(vaes, encoder_of), x, samples=len(noise), device=device, scorer=scorer
        )
        for scorer in (ReferenceScorer, make)
    )
    for name in ("values", "errors"):
        one, other = getattr(exact, name), getattr(found, name)
        np.testing.assert_allclose(other[unbearable], one[unbearable], rtol=rtol)
        np.testing.assert_allclose(other[:, far], one[:, far], rtol=rtol)
    near = np.setdiff1d(np.arange(75), far)
    difference = np.delete(np.abs(found.values - exact.values)[:, near], unbearable, axis=0)
    assert (difference > 0).mean() > 0.9
    assert difference.max() <= TOLERANCE


@pytest.mark.parametrize("unbearable", [0, 2, 3])
@pytest.mark.parametrize("ahead", [0, 1, 2])
@pytest.mark.parametrize("encoder_of", [[0, 0, 0, 0], [0, 1, 2, 3]])
def test_what_it_cannot_tell_is_scored_again(case, draws_of, monkeypatch, ahead, encoder_of, unbearable):
    """Also where other draws have been begun in the meantime."""
    monkeypatch.setitem(AHEAD, "cpu", ahead)
    check_what_is_scored_again(case, draws_of, encoder_of, "cpu", ReducedScorer, 1e-12, unbearable)


def test_a_cpu_and_networks_of_another_kind_get_the_plain_one(case):
    vae, _, noise = case
    assert isinstance(tile_scorer(vae, noise), ReferenceScorer)
    assert not ReducedScorer.fits(build_vae((7,), generator=torch.Generator().manual_seed(0)))


@on_gpu
@pytest.mark.parametrize("make", [tile_scorer, compiled_scorer])
def test_on_a_gpu_it_agrees_too(case, make):
    vae, x, noise = case
    vae, x, noise = vae.cuda(), x.cuda(), noise.cuda()
    scorer = make(vae, noise)
    assert isinstance(scorer, ReducedScorer)
    with torch.inference_mode():
        scorer.load()
        assert scorer.trusted
        value, _ = scorer(x, *vae.encode(x))
        exact, _ = importance_log_likelihood(vae, x, importance_samples(*vae.encode(x), noise))
    assert (value - exact).abs().max() <= TOLERANCE


@on_gpu
@pytest.mark.parametrize("encoder_of", [[0, 0, 0, 0], [0, 1, 2, 3]])
@pytest.mark.parametrize("make", [tile_scorer, compiled_scorer])
def test_on_a_gpu_what_it_cannot_tell_is_scored_again(case, draws_of, make, encoder_of):
    check_what_is_scored_again(case, draws_of, encoder_of, "cuda", make, rtol=1e-6)
