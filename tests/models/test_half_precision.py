"""Half precision is used only where it was shown to be good enough, and never shows beyond its tolerance."""

import copy

import pytest
import torch

from dissensus.models import build_vae
from dissensus.models.importance import importance_log_likelihood, importance_samples
from dissensus.models.vae.half_precision import TOLERANCE, ReducedScorer
from dissensus.models.vae.scorer import ReferenceScorer, compiled_scorer, tile_scorer


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
        inferred = vae.infer(x)
        value, error = scorer(x, inferred)
        exact, exact_error = importance_log_likelihood(vae.log_prob, x, importance_samples(*inferred, noise))
    assert (value - exact).abs().max() <= TOLERANCE
    assert (value != exact).any()  # it is another way, not the same one
    torch.testing.assert_close(error, exact_error, rtol=0, atol=0.05, equal_nan=True)


def test_what_half_precision_cannot_hold_it_cannot_tell(case):
    vae, x, noise = case
    scorer = ReducedScorer(vae, noise)
    with torch.inference_mode():
        scorer.load()
        mean, log_std = vae.infer(x)
        usual, _ = scorer(x, (mean, log_std))
        mean[2] *= 1e6
        value, _ = scorer(x, (mean, log_std))
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
        inferred = vae.infer(x)
        value, _ = scorer(x, inferred)
        exact, _ = importance_log_likelihood(vae.log_prob, x, importance_samples(*inferred, noise))
    assert not scorer.trusted
    assert value.isnan().all() if before else torch.equal(value, exact)


def test_a_cpu_and_networks_of_another_kind_get_the_plain_one(case):
    vae, x, noise = case
    assert isinstance(tile_scorer(vae, noise, len(x)), ReferenceScorer)
    assert not ReducedScorer.fits(build_vae((7,), generator=torch.Generator().manual_seed(0)))


@pytest.mark.gpu
@pytest.mark.parametrize("make", [tile_scorer, compiled_scorer])
def test_on_a_gpu_it_agrees_too(case, make):
    vae, x, noise = case
    vae, x, noise = vae.cuda(), x.cuda(), noise.cuda()
    scorer = make(vae, noise, len(x))
    assert isinstance(scorer, ReducedScorer)
    with torch.inference_mode():
        scorer.load()
        assert scorer.trusted
        value, _ = scorer(x, vae.infer(x))
        exact, _ = importance_log_likelihood(vae.log_prob, x, importance_samples(*vae.infer(x), noise))
    assert (value - exact).abs().max() <= TOLERANCE
