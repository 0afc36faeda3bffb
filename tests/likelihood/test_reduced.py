"""Half precision is used only where it was shown to be good enough, and never shows beyond its tolerance."""

import pytest
import torch

from dissensus.likelihood.importance import importance_log_likelihood
from dissensus.likelihood.reduced import TOLERANCE, ReducedScorer
from dissensus.likelihood.scorer import ReferenceScorer, compiled_scorer, tile_scorer
from dissensus.models import build_vae

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
        exact, exact_error = importance_log_likelihood(vae, x, *encoding, noise)
    assert (value - exact).abs().max() <= TOLERANCE
    assert (value != exact).any()  # it is another way, not the same one
    torch.testing.assert_close(error, exact_error, rtol=0, atol=0.05, equal_nan=True)


def test_what_half_precision_cannot_hold_is_scored_in_single_precision(case):
    vae, x, noise = case
    scorer = ReducedScorer(vae, noise)
    with torch.inference_mode():
        scorer.load()
        mean, log_std = vae.encode(x)
        usual, _ = scorer(x, mean, log_std)
        mean[2] *= 1e6
        value, _ = scorer(x, mean, log_std)
        exact, _ = importance_log_likelihood(vae, x, mean, log_std, noise)
    assert value[2] == exact[2]
    others = [0, 1, 3, 4]
    assert value[others].tolist() == usual[others].tolist()  # a neighbour's fate changes nothing


def test_weights_that_do_not_bear_it_are_not_trusted(case):
    vae, x, noise = case
    with torch.no_grad():
        for parameter in vae.decoder.parameters():
            parameter *= 30.0
    scorer = ReducedScorer(vae, noise)
    with torch.inference_mode():
        scorer.load()
        encoding = vae.encode(x)
        value, _ = scorer(x, *encoding)
        exact, _ = importance_log_likelihood(vae, x, *encoding, noise)
    assert not scorer.trusted
    assert value.tolist() == exact.tolist()


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
        exact, _ = importance_log_likelihood(vae, x, *vae.encode(x), noise)
    assert (value - exact).abs().max() <= TOLERANCE
