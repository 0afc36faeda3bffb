"""The latent space of draws: what it answers, by gradient, for any batch, and what it refuses."""

import copy
import math

import numpy as np
import pytest
import torch
from scipy.optimize import approx_fprime

from dissensus.errors import DataError, SettingsError
from dissensus.latent import LatentCodes, LatentSpace, aggregated_posterior, shared_space
from dissensus.models import Sequences, build_vae
from dissensus.models.information import (
    information_of_categories,
    information_of_logits,
    information_of_moments,
)
from dissensus.posterior import load_draw
from tests.contracts.models import Tokens, random_draws


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def vae(observation="bernoulli"):
    return build_vae((5,), latent_size=3, widths=(8,), observation=observation, generator=seeded())


MODELS = {
    "bernoulli": vae,
    "gaussian": lambda: vae("gaussian"),
    "continuous-bernoulli": lambda: vae("continuous-bernoulli"),
    "discretised-logistic": lambda: vae("discretised-logistic"),
    "sequences": lambda: Sequences(6, 5, latent_size=3, embedding=4, hidden=8),
    "tokens": lambda: Tokens(latents=3),
}


def space_of(model, **options):
    draws = random_draws(model, count=4, chains=1)
    codes = torch.randn(3, 40, 3, generator=seeded(1)).numpy()
    codes = LatentCodes(codes[0], codes[1] - 1, codes[2])
    return LatentSpace(model, draws, codes=codes, **options)


@pytest.fixture(params=MODELS, ids=list(MODELS))
def space(request):
    return space_of(MODELS[request.param]())


class TestDisagreement:
    def test_is_none_where_all_draws_are_the_same(self):
        model = vae()
        same = random_draws(model, count=4, chains=1).select(np.array([0, 0, 0]))
        z = torch.randn(5, 3, generator=seeded())
        assert LatentSpace(model, same).disagreement(z).abs().max() < 1e-6

    @pytest.mark.parametrize("options", [{"form": "information"}, {"form": "expectation", "samples": 2}])
    def test_a_point_has_its_own_in_any_batch_and_order(self, space, options):
        # As of inputs: where networks of odd widths round by the place, they are asked one at a time.
        space.one_a_call = options["form"] == "expectation"
        z = torch.randn(11, 3, generator=seeded(2))
        whole = space.disagreement(z, inputs=2, **options)
        assert whole.shape == (11,)
        assert (whole >= 0).all()
        alone = torch.cat([space.disagreement(one[None], inputs=2, **options) for one in z])
        assert torch.equal(whole, alone)
        assert torch.equal(space.disagreement(z.flip(0), inputs=2, **options), whole.flip(0))

    def test_its_gradient_is_that_of_the_values(self):
        space = space_of(vae())
        z = torch.randn(4, 3, generator=seeded(3)).double().requires_grad_()
        value = space.disagreement(z)
        assert value.dtype == torch.float64
        (found,) = torch.autograd.grad(value.sum(), z)
        for own, gradient in zip(z.detach().numpy(), found.numpy(), strict=True):
            expected = approx_fprime(own, lambda p: space.disagreement(p[None])[0].item(), 1e-2)
            assert gradient == pytest.approx(expected, abs=0.03 * np.abs(gradient).max() + 1e-3)

    @pytest.mark.parametrize("form", ["information", "expectation"])
    def test_every_model_has_a_gradient(self, space, form):
        z = torch.randn(3, 3, generator=seeded(4), requires_grad=True)
        space.disagreement(z, form=form, inputs=2, samples=2).sum().backward()
        assert z.grad.isfinite().all()
        assert z.grad.abs().sum() > 0

    def test_a_descent_finds_less_of_it(self):
        space = space_of(vae())
        z = (3 * torch.randn(2, 3, generator=seeded(5))).double().requires_grad_()
        before = space.disagreement(z).sum().item()
        minimiser = torch.optim.LBFGS([z], max_iter=10, line_search_fn="strong_wolfe")

        def closure():
            minimiser.zero_grad()
            total = space.disagreement(z).sum()
            total.backward()
            return total

        minimiser.step(closure)
        assert space.disagreement(z).sum().item() < before

    def test_points_may_have_any_shape(self):
        space = space_of(vae())
        z = torch.randn(2, 3, 3, generator=seeded(6))
        assert torch.equal(space.disagreement(z), space.disagreement(z.reshape(6, 3)).reshape(2, 3))
        assert space.log_q(z).shape == space.annulus(z).shape == space.p_values(z).shape == (2, 3)

    def test_coins_are_compared_exactly(self):
        model = vae()
        space = space_of(model)
        z = torch.randn(3, 3, generator=seeded(7))
        own, p = copy.deepcopy(model), []
        for draw in range(4):
            load_draw(own, space.draws, draw)
            p.append(own.decode(z)[:, 0].double().sigmoid())
        p = torch.stack(p).detach()

        def entropy(q):
            return torch.special.entr(q) + torch.special.entr(1 - q)

        expected = (entropy(p.mean(0)) - entropy(p).mean(0)).sum(1)
        torch.testing.assert_close(space.disagreement(z).double(), expected, rtol=1e-4, atol=1e-6)


class TestInformation:
    def test_all_formulas_agree_on_coins(self):
        logits = torch.randn(3, 7, generator=seeded()).double()
        both = torch.stack([-logits, logits], -1).sigmoid().log()
        torch.testing.assert_close(information_of_logits(logits), information_of_categories(both))
        assert information_of_logits(torch.tensor([[40.0], [-40.0]])).item() == pytest.approx(math.log(2))

    def test_moments_bound_it_from_above(self):
        mean = torch.tensor([[-50.0], [50.0]])
        assert information_of_moments(mean, torch.ones(2, 1)).item() > math.log(2)
        assert information_of_moments(torch.zeros(2, 1), torch.ones(2, 1)).item() == 0


class TestAnswers:
    def test_p_values_are_uniform_on_codes_like_those_held_out(self):
        space = space_of(vae())
        p = space.p_values(torch.from_numpy(space.codes.held_out))
        ranks = (1 + torch.arange(40)) / 41
        assert (p.sort().values >= ranks).all()
        assert (p <= 1).all()
        limit = space.limit(0.1)
        share = (space.disagreement(torch.from_numpy(space.codes.held_out)) > limit).double().mean()
        assert share <= 0.1

    def test_points_of_the_prior_that_disagree_little(self):
        space = space_of(vae())
        limit = space.limit(0.5)
        z = space.sample(20, max_disagreement=limit)
        assert z.shape == (20, 3)
        assert (space.disagreement(z) <= limit).all()
        assert torch.equal(z, space.sample(20, max_disagreement=limit))
        assert not torch.equal(space.sample(5, seed=1), space.sample(5))
        with pytest.raises(SettingsError, match="points of the prior"):
            space.sample(20, max_disagreement=-1.0)

    def test_points_are_found_where_one_in_a_hundred_keeps_to_the_limit(self):
        space = space_of(vae())
        limit = space.disagreement(space.sample(4000, seed=9)).quantile(0.01).item()
        assert len(space.sample(300, max_disagreement=limit)) == 300

    def test_the_density_of_codes_has_a_gradient(self):
        space = space_of(vae())
        z = torch.randn(4, 3, generator=seeded(), requires_grad=True)
        found = space.log_q(z)
        expected = -aggregated_posterior(z, space.codes.means, space.codes.log_stds, neighbours=40)
        torch.testing.assert_close(found, expected.float())
        (found + space.annulus(z)).sum().backward()
        assert z.grad.isfinite().all()

    def test_there_and_back(self, space):
        z = torch.randn(3, 3, generator=seeded())
        x = space.decode(z)
        assert x.shape == (3, *space.model.input_shape)
        assert not torch.equal(x, space.decode(z, draw=0))
        assert space.encode(x).shape == (3, 3)

    def test_texts_are_written_by_all_draws_together(self):
        space = space_of(Sequences(6, 5, latent_size=3, embedding=4, hidden=8))
        z = 3 * torch.randn(40, 3, generator=seeded(8))
        x = space.decode(z).long()
        told = torch.stack([model.outputs(z, x) for model in space._models]).double()
        own = told.gather(3, x[None, :, :, None].expand(len(told), -1, -1, 1))[..., 0]
        before = torch.cat([torch.zeros_like(own[:, :, :1]), own.cumsum(2)[:, :, :-1]], dim=2)
        mixture = (told + before[..., None]).logsumexp(0)  # each counts by what is written already
        assert torch.equal(mixture.argmax(2), x)
        alone = torch.stack([space.decode(z, draw=draw) for draw in range(4)])
        assert not (alone == x).all(2).any(0).all()  # somewhere no draw alone would have said so


class TestOneSpace:
    def test_chains_have_spaces_of_their_own(self):
        model = vae()
        draws = random_draws(model, count=6, chains=2)
        space = LatentSpace(model, draws)
        assert (space.chain, len(space.draws)) == (0, 3)
        assert "chain 0 of 2" in repr(space)
        assert LatentSpace(model, draws, chain=1).draws.chain.tolist() == [1, 1, 1]
        with pytest.raises(SettingsError, match="no chain 7"):
            LatentSpace(model, draws, chain=7)

    def test_draws_that_share_an_encoder_are_one_space(self):
        model = vae()
        draws = random_draws(model, count=4, chains=2)
        draws.parts["encoder"].of[:] = 0
        found = shared_space(model, draws)
        assert (found.chain, found.draws.tolist()) == (None, [0, 1, 2, 3])

    def test_a_single_draw_cannot_disagree(self):
        model = vae()
        with pytest.raises(SettingsError, match="several draws"):
            LatentSpace(model, random_draws(model, count=2, chains=2))


class TestRefuses:
    @pytest.mark.parametrize("z", [torch.zeros(2, 4), torch.zeros(()), "z", [[0.0]]])
    def test_points_of_another_space(self, z):
        space = space_of(vae())
        with pytest.raises(DataError, match="z must be"):
            space.disagreement(z)

    @pytest.mark.parametrize("value", [math.nan, math.inf])
    def test_what_is_not_finite(self, value):
        with pytest.raises(DataError, match="row 1 is not finite"):
            space_of(vae()).disagreement([[0.0] * 3, [0.0, value, 0.0]])

    def test_settings_that_are_none(self):
        space = space_of(vae())
        for refused in (
            lambda: space.disagreement(torch.zeros(1, 3), form="no"),
            lambda: space.disagreement(torch.zeros(1, 3), inputs=0),
            lambda: space.decode(torch.zeros(1, 3), draw=4),
            lambda: space.sample(0),
        ):
            with pytest.raises(SettingsError):
                refused()
        with pytest.raises(DataError, match="no codes"):
            LatentSpace(vae(), random_draws(vae(), count=4, chains=1)).log_q(torch.zeros(1, 3))
