"""One class that every generative model must pass: ours and two that share nothing with it.

A model of your own passes it too: add a function that makes one, and inputs it takes.
"""

import copy
import math

import numpy as np
import pytest
import torch
from scipy import stats

from dissensus.likelihood import input_statistics, log_likelihoods, noise_floor
from dissensus.models import (
    MAF,
    NSF,
    DeepVAE,
    GenerativeModel,
    LatentModel,
    PixelCNN,
    PlainScorer,
    RealNVP,
    Sequences,
    build_vae,
)
from dissensus.posterior import SGHMC, SamplingSettings, sample_posterior

from .models import LinearGaussian, Tokens, random_draws

ROWS = torch.randn(40, 5, generator=torch.Generator().manual_seed(0))
WALKS = 3 + ROWS.cumsum(1)  # flows start at the law of ROWS, and would have nothing to learn
PICTURES = torch.randint(0, 256, (24, 1, 9, 10), generator=torch.Generator().manual_seed(1)).byte()
COLOURS = torch.randint(0, 256, (24, 3, 5, 7), generator=torch.Generator().manual_seed(4)).byte()
SEQUENCES = torch.randint(0, 5, (30, 6), generator=torch.Generator().manual_seed(2)).byte()
MODELS = {
    "VAE of pictures": (
        lambda: build_vae((1, 9, 10), latent_size=3, widths=(4,), generator=torch.Generator().manual_seed(0)),
        PICTURES,
    ),
    "VAE of rows": (
        lambda: build_vae(
            (5,),
            latent_size=2,
            widths=(16,),
            observation="gaussian",
            generator=torch.Generator().manual_seed(0),
        ),
        ROWS,
    ),
    "deep VAE": (
        lambda: DeepVAE((1, 9, 18), latents=(2, 1), widths=(4, 4), observation="gaussian"),
        torch.randint(0, 256, (24, 1, 9, 18), generator=torch.Generator().manual_seed(1)).byte(),
    ),
    "masked autoregressive flow": (lambda: MAF((5,), transforms=2, hidden=(16, 16)), WALKS),
    "spline flow": (lambda: NSF((5,), transforms=1, hidden=(8,)), WALKS),
    "coupling flow": (lambda: RealNVP((5,), hidden=(8,)), WALKS),
    "grey pixels in turn": (lambda: PixelCNN((1, 9, 10), width=4, dilations=(1, 2), components=2), PICTURES),
    "colours in turn": (lambda: PixelCNN((3, 5, 7), width=4, dilations=(1,), components=3), COLOURS),
    "linear-Gaussian": (lambda: LinearGaussian(5), ROWS),
    "tokens": (Tokens, SEQUENCES),
    "sequences": (lambda: Sequences(6, 5, latent_size=2, embedding=4, hidden=8), SEQUENCES),
}


@pytest.fixture(params=MODELS, ids=list(MODELS))
def case(request):
    make, inputs = MODELS[request.param]
    model = make()
    model.initialise_(torch.Generator().manual_seed(3))
    return model, inputs


class TestEveryModel:
    """What the rest of the package relies on."""

    def test_parts_are_disjoint_and_all_that_is_trainable(self, case):
        model, _ = case
        parts = [{id(p) for p in module.parameters()} for module in model.parts().values()]
        assert sum(map(len, parts)) == len(set().union(*parts))
        assert set().union(*parts) == {id(p) for p in model.parameters() if p.requires_grad}
        assert set(model.inference) <= set(model.parts())

    def test_a_start_is_a_function_of_the_generator(self, case):
        model, _ = case
        other = copy.deepcopy(model)
        for own, seed in ((model, 5), (other, 5)):
            own.initialise_(torch.Generator().manual_seed(seed))
        assert all(torch.equal(a, b) for a, b in zip(model.parameters(), other.parameters(), strict=True))
        other.initialise_(torch.Generator().manual_seed(6))
        assert any(not torch.equal(a, b) for a, b in zip(model.parameters(), other.parameters(), strict=True))

    def test_the_objective_is_a_gradient_s_source_and_draws_nothing_itself(self, case):
        model, inputs = case
        noise = torch.randn(8, model.training_noise_size, generator=torch.Generator().manual_seed(0))
        before = torch.get_rng_state()
        value = model.objective(inputs[:8], noise)
        assert torch.equal(torch.get_rng_state(), before)
        assert value.shape == (8,)
        assert value.dtype == torch.float64
        assert torch.equal(model.objective(inputs[:8], noise), value)
        value.sum().backward()
        assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())

    def test_the_objective_is_at_most_the_log_likelihood(self, case):
        model, inputs = case
        K = 2000
        with torch.no_grad():
            noise = torch.randn(K, model.noise_size, generator=torch.Generator().manual_seed(0))
            log_p, error = model.log_likelihood(inputs[:3], noise, model.infer(inputs[:3]))
            if not model.noise_size:
                no_noise = torch.zeros(3, model.training_noise_size)
                torch.testing.assert_close(model.objective(inputs[:3], no_noise), log_p)
                assert (error == 0).all()
                return
            many = inputs[:3].repeat_interleave(K, 0)
            bound = model.objective(many, noise.repeat(3, 1)).view(3, K).mean(1)
        assert (bound <= log_p + 4 * error + 1e-6).all()

    def test_inputs_that_were_read_are_read_again_as_they_are(self, case):
        model, inputs = case
        noise = torch.randn(4, model.noise_size, generator=torch.Generator().manual_seed(0))
        with torch.no_grad():
            read = model.read(inputs[:6])
            for x in (read, inputs[:6]):
                found = model.log_likelihood(x, noise, model.infer(x))[0]
                expected = model.log_likelihood(read, noise, model.infer(read))[0]
                assert torch.equal(found, expected)

    def test_the_scorer_says_what_the_model_says(self, case):
        model, inputs = case
        noise = torch.randn(8, model.noise_size, generator=torch.Generator().manual_seed(0))
        tile = model.tile(torch.device("cpu"), 8)
        with torch.inference_mode():
            x, inferred = inputs[:tile], model.infer(inputs[:tile])
            scorer = model.scorer(noise, tile)
            scorer.load()
            for found, expected in zip(
                scorer(x, inferred), PlainScorer(model, noise, tile)(x, inferred), strict=True
            ):
                torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-5)

    @pytest.mark.parametrize("shared", [True, False])
    def test_the_matrix_is_what_each_draw_says(self, case, shared):
        model, inputs = case
        draws = random_draws(model, shared=shared)
        found = log_likelihoods(model, draws, inputs, samples=4, seed=1)
        own = copy.deepcopy(model)
        from dissensus.posterior import load_draw
        from dissensus.seeding import torch_stream

        K = 4 if model.noise_size else 1
        noise = torch.randn(K, model.noise_size, generator=torch_stream(1, "scoring noise"))
        for draw in range(len(draws)):
            load_draw(own, draws, draw)
            with torch.no_grad():
                expected, _ = own.log_likelihood(inputs, noise, own.infer(inputs))
            np.testing.assert_allclose(found.values[draw], expected.numpy(), rtol=1e-5, atol=1e-4)
        assert found.samples == K
        assert noise_floor(model, draws, inputs[:5], samples=4) >= 0
        assert (noise_floor(model, draws, inputs[:5], samples=4) > 0) == bool(model.noise_size)

    def test_statistics_are_folded_as_they_say(self, case):
        model, inputs = case
        draws = random_draws(model, shared=False)
        found = input_statistics(model, draws, inputs)
        assert list(found) == list(model.observed)
        from dissensus.posterior import load_draw

        own, seen = copy.deepcopy(model), []
        for draw in range(len(draws)):
            load_draw(own, draws, draw)
            with torch.no_grad():
                seen.append(own.observe(inputs, own.infer(inputs)))
        for name, how in model.observed.items():
            field = torch.stack([each[how.field].double() for each in seen])
            if how.fold == "mean":
                expected = field.mean(0)
            elif how.fold == "variance":
                expected = field.var(0, correction=0).flatten(1).sum(1)
            else:
                by_chain = [field[torch.from_numpy(draws.chain == c)] for c in np.unique(draws.chain)]
                expected = torch.stack([f.var(0, correction=0).flatten(1).sum(1) for f in by_chain]).mean(0)
            np.testing.assert_allclose(found[name], expected.numpy(), rtol=1e-5, atol=1e-6, err_msg=name)

    def test_it_is_made_again_from_its_config_also_without_memory(self, case):
        model, _ = case
        import json

        again = type(model).from_config(json.loads(json.dumps(model.config())))
        shapes = {name: p.shape for name, p in model.named_parameters()}
        assert {name: p.shape for name, p in again.named_parameters()} == shapes
        with torch.device("meta"):
            empty = type(model).from_config(model.config())
        assert all(p.is_meta for p in empty.parameters())

    def test_features_and_latents_have_their_shapes(self, case):
        model, inputs = case
        with torch.no_grad():
            assert model.features(inputs).shape[0] == len(inputs)
            assert model.features(inputs).ndim == 2
            if isinstance(model, LatentModel):
                z, _ = model.encode(inputs)
                assert z.shape == (len(inputs), model.latent_size)
                assert model.log_prob(inputs, z).shape == (len(inputs),)
                assert model.sample(z, torch.Generator().manual_seed(0)).shape == inputs.shape
                assert model.reconstruct(inputs, model.infer(inputs)).shape == inputs.shape

    @pytest.mark.parametrize("variant", [SamplingSettings.variant_1, SamplingSettings.variant_2])
    def test_a_posterior_is_sampled_and_the_model_learns(self, case, variant):
        model, inputs = case
        settings = variant(SGHMC(), epochs=6, burn_in=4, chains=2, batch_size=8)
        draws = sample_posterior(model, inputs, settings, seed=0, held_out=inputs[:4])
        assert len(draws) == 6
        first, *_, last = [r.training_elbo for r in draws.diagnostics.reports if r.chain == 0]
        assert last > first
        assert np.isfinite(log_likelihoods(model, draws, inputs, samples=2).values).all()


def test_the_toy_is_exact():
    model, x = LinearGaussian(5), ROWS[:6]
    model.initialise_(torch.Generator().manual_seed(0))
    W = model.loadings.detach().double().numpy()
    law = stats.multivariate_normal(np.zeros(5), W @ W.T + np.eye(5))
    with torch.no_grad():
        log_p, _ = model.log_likelihood(x, torch.empty(1, 0), ())
    np.testing.assert_allclose(log_p.numpy(), law.logpdf(x.double().numpy()), rtol=1e-9)


def test_the_token_model_sums_to_one():
    model = Tokens(length=3, vocabulary=3)
    model.initialise_(torch.Generator().manual_seed(0))
    every = torch.cartesian_prod(*[torch.arange(3)] * 3)
    with torch.no_grad():
        total = model.log_prob(every, torch.tensor([[0.3, -1.0]]).expand(len(every), -1)).exp().sum()
    assert total.item() == pytest.approx(1, abs=1e-6)


def test_what_cannot_be_saved_says_so():
    class Nameless(LinearGaussian):
        config = GenerativeModel.config

    with pytest.raises(NotImplementedError, match="Nameless has no config"):
        Nameless().config()


def test_groups_of_draws_are_filled_up():
    """No draw's bits depend on who else is in its group, nor on how many there are."""
    model = MAF((5,), hidden=(16,))
    draws = random_draws(model, count=model.draws_at_once + 2)
    whole = log_likelihoods(model, draws, ROWS).values
    for some in ([0], [len(draws) - 1, 1], [3, 2, 1, 0]):
        part = log_likelihoods(model, draws.select(np.array(some)), ROWS).values
        np.testing.assert_array_equal(part, whole[some])
    assert not math.isnan(whole.sum())
