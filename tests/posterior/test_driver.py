"""The chain driver: what it stores, what it leaves alone, and that it is a function of its seed."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

from dissensus.errors import DataError
from dissensus.likelihood import log_likelihoods
from dissensus.models import VAE, Gaussian, build_vae
from dissensus.posterior import SGHMC, Adam, SamplingSettings, load_weights, sample_posterior
from dissensus.posterior.chain import Chain
from dissensus.posterior.engines import EagerEngine

VARIANTS = {
    "variant 1": SamplingSettings.variant_1(epochs=4, burn_in=2, chains=2, batch_size=50),
    "variant 2": SamplingSettings.variant_2(epochs=4, burn_in=2, chains=2, batch_size=50),
    "ensemble": SamplingSettings.ensemble(2, 3, batch_size=50),
}
every_variant = pytest.mark.parametrize("settings", VARIANTS.values(), ids=VARIANTS)


def flat(stacks):
    """All stacks side by side (M, P), in the order of their names."""
    return torch.cat([stack[:].flatten(1) for stack in stacks.values()], dim=1)


def same_bits(a, b):
    return torch.equal(flat(a.parts["decoder"].stacks), flat(b.parts["decoder"].stacks)) and torch.equal(
        flat(a.parts["encoder"].stacks), flat(b.parts["encoder"].stacks)
    )


def one_by_one(vae, data, settings, index, seed):
    """The weights of one chain after every epoch [(decoder, encoder), ...], driven by hand."""
    chain = Chain(vae, settings, data, index, seed)
    history = []
    for epoch in range(1, settings.epochs + 1):
        for rows in chain.begin_epoch(epoch):
            chain.step(rows)
        history.append((chain.parts["decoder"].weights.clone(), chain.parts["encoder"].weights.clone()))
    return history


@every_variant
def test_chains_at_once_equal_chains_one_by_one(vectors, vector_vae, settings):
    draws = sample_posterior(vector_vae, vectors, settings, seed=3)
    alone = [one_by_one(vector_vae, vectors, settings, c, 3) for c in range(settings.chains)]
    for m, (c, t) in enumerate(zip(draws.chain, draws.epoch, strict=True)):
        assert torch.equal(flat(draws.parts["decoder"].stacks)[m], alone[c][t - 1][0])


def test_variant_1_stores_the_final_encoder_of_each_chain(vectors, vector_vae):
    settings = VARIANTS["variant 1"].with_(epochs=5, thinning=2)  # the last epoch is no draw
    draws = sample_posterior(vector_vae, vectors, settings, seed=0)
    assert draws.epoch.tolist() == [2, 4, 2, 4]
    assert draws.parts["encoder"].of.tolist() == draws.chain.tolist() == [0, 0, 1, 1]
    encoders = flat(draws.parts["encoder"].stacks)
    assert len(encoders) == 2
    for c in range(2):
        history = one_by_one(vector_vae, vectors, settings, c, 0)
        assert torch.equal(encoders[c], history[-1][1])
        assert not torch.equal(encoders[c], history[-2][1])


def test_variant_2_stores_coupled_pairs(vectors, vector_vae):
    settings = VARIANTS["variant 2"]
    draws = sample_posterior(vector_vae, vectors, settings, seed=0)
    assert len(flat(draws.parts["encoder"].stacks)) == len(draws) == 6
    assert draws.parts["encoder"].of.tolist() == list(range(6))
    histories = [one_by_one(vector_vae, vectors, settings, c, 0) for c in range(2)]
    for m, (c, t) in enumerate(zip(draws.chain, draws.epoch, strict=True)):
        assert torch.equal(flat(draws.parts["decoder"].stacks)[m], histories[c][t - 1][0])
        assert torch.equal(flat(draws.parts["encoder"].stacks)[m], histories[c][t - 1][1])
    assert len(torch.unique(flat(draws.parts["encoder"].stacks), dim=0)) == 6


def test_ensemble_members_differ_and_count_once(vectors, vector_vae):
    draws = sample_posterior(vector_vae, vectors, SamplingSettings.ensemble(4, 3, batch_size=50), seed=0)
    assert draws.chain.tolist() == draws.parts["encoder"].of.tolist() == [0, 1, 2, 3]
    assert draws.epoch.tolist() == [3] * 4
    for stacks in (draws.parts["decoder"].stacks, draws.parts["encoder"].stacks):
        distances = torch.pdist(flat(stacks))
        assert distances.min() > 0.5  # members start apart, not a rounding away from each other
    assert all(report.health == {} for report in draws.diagnostics.reports)


def test_plain_training_improves_the_elbo(vectors, vector_vae):
    settings = SamplingSettings.ensemble(1, 40, Adam(learning_rate=1e-2), batch_size=20)
    draws = sample_posterior(vector_vae, vectors, settings, seed=0, held_out=vectors[:50])
    elbos = [report.training_elbo for report in draws.diagnostics.reports]
    # The data lie in a plane: two latents reach the noise, so most of the distance to log p(x) ≈ −7 is made.
    assert elbos[-1] > -8.5
    assert elbos[0] < -12
    last = draws.diagnostics.reports[-1]
    assert last.held_out_log_likelihood > last.training_elbo - 0.5


@pytest.mark.parametrize("tile", [1, 3, 64])
def test_chains_are_watched_by_importance_sampling(vectors, vector_vae, monkeypatch, tile):
    """However many inputs are worked on at once."""
    monkeypatch.setattr(VAE, "tile", lambda *_: tile)
    chain = Chain(vector_vae, VARIANTS["variant 1"], vectors, 0, 0)
    x, noise = vectors[:50], torch.randn(7, 2, generator=torch.Generator().manual_seed(2))
    found = chain.held_out_log_likelihood(x, noise)
    vae = copy.deepcopy(chain.model).double()
    mean, log_std = vae.encode(x.double())
    weights = []
    for eps in noise.double():
        z = mean + log_std.exp() * eps
        prior, q = torch.distributions.Normal(0, 1), torch.distributions.Normal(mean, log_std.exp())
        observed = torch.distributions.Normal(vae.decode(z)[:, 0], 0.5).log_prob(x).sum(1)
        weights.append(observed + (prior.log_prob(z) - q.log_prob(z)).sum(1))
    expected = torch.stack(weights).exp().mean(0).log()
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-4)


@every_variant
def test_the_given_vae_and_global_randomness_are_left_alone(vectors, vector_vae, settings):
    before = copy.deepcopy(vector_vae.state_dict())
    data = vectors.clone()
    torch_state, numpy_state = torch.random.get_rng_state(), np.random.get_state()  # noqa: NPY002
    sample_posterior(vector_vae, vectors, settings, seed=0, held_out=vectors[:10])
    assert all(torch.equal(before[name], value) for name, value in vector_vae.state_dict().items())
    assert all(p.grad is None for p in vector_vae.parameters())
    assert torch.equal(vectors, data)
    assert torch.equal(torch_state, torch.random.get_rng_state())
    after = np.random.get_state()  # noqa: NPY002
    assert numpy_state[2:] == after[2:]
    assert np.array_equal(numpy_state[1], after[1])


@every_variant
def test_same_seed_same_bits_whatever_the_global_state(vectors, vector_vae, settings):
    first = sample_posterior(vector_vae, vectors, settings, seed=0)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(12345)
        second = sample_posterior(vector_vae, vectors, settings, seed=0, held_out=vectors[:20])
    assert same_bits(first, second)
    other = sample_posterior(vector_vae, vectors, settings, seed=1)
    assert not (flat(first.parts["decoder"].stacks) == flat(other.parts["decoder"].stacks)).any()


def test_more_chains_do_not_change_the_first_ones(vectors, vector_vae):
    one, three = (
        sample_posterior(vector_vae, vectors, VARIANTS["variant 2"].with_(chains=c), seed=0) for c in (1, 3)
    )
    assert torch.equal(flat(one.parts["decoder"].stacks), flat(three.parts["decoder"].stacks)[: len(one)])


def test_each_epoch_has_an_order_of_its_own_without_repeats(vectors, vector_vae):
    chains = [Chain(vector_vae, VARIANTS["variant 1"], vectors, index, 0) for index in range(2)]
    orders = [chain.begin_epoch(epoch).flatten() for chain in chains for epoch in (1, 2)]
    assert all(sorted(order.tolist()) == list(range(200)) for order in orders)
    assert len({tuple(order.tolist()) for order in orders}) == 4


@pytest.mark.parametrize("rows", [1, 2, 49, 50, 51, 125])
@pytest.mark.parametrize("variant", ["variant 1", "variant 2"])
def test_any_number_of_rows(vectors, vector_vae, rows, variant):
    """N = 1, below, equal to, above and not divisible by the batch of 50."""
    settings = VARIANTS[variant].with_(rule=SGHMC(step_size=1e-3))
    draws = sample_posterior(vector_vae, vectors[:rows], settings, seed=0)
    assert len(draws) == 6
    assert torch.isfinite(flat(draws.parts["decoder"].stacks)).all()
    order = Chain(vector_vae, settings, vectors[:rows], 0, 0).begin_epoch(1)
    assert order.shape == (max(rows // 50, 1), min(rows, 50))
    assert len(order.unique()) == order.numel()


def test_no_rows_are_refused(vectors, vector_vae):
    with pytest.raises(DataError, match="no rows"):
        sample_posterior(vector_vae, vectors[:0], VARIANTS["variant 1"], seed=0)


def test_uint8_pixels_equal_the_same_pixels_as_floats():
    random = torch.Generator().manual_seed(0)
    pixels = torch.randint(0, 256, (40, 1, 8, 8), generator=random, dtype=torch.uint8)
    vae = build_vae((1, 8, 8), latent_size=2, widths=(2,), hidden=4, generator=random)
    settings = SamplingSettings.variant_2(epochs=2, batch_size=16)
    from_bytes, from_floats = (
        sample_posterior(vae, data, settings, seed=0, held_out=data[:5]) for data in (pixels, pixels / 255)
    )
    assert same_bits(from_bytes, from_floats)
    first, second = from_bytes.diagnostics.reports[-1], from_floats.diagnostics.reports[-1]
    assert first.held_out_log_likelihood == second.held_out_log_likelihood


def test_both_gradients_are_taken_at_the_same_point(vectors, vector_vae):
    """θ's step uses the φ that is there before the step, the most recent one, and not the one after it."""
    settings = SamplingSettings(Adam(learning_rate=0.1), Adam(learning_rate=0.1), epochs=1, batch_size=40)
    chain = Chain(vector_vae, settings, vectors, 0, 0)
    twin = copy.deepcopy(chain.model)
    for epoch in (1, 2):
        rows = chain.begin_epoch(epoch)[0]
        load_weights(twin, dict(chain.model.named_parameters()))
        noise = torch.empty(40, 2).normal_(generator=torch.Generator().set_state(chain.generator.get_state()))
        loss = -twin.elbo(vectors[rows], noise).mean()
        expected = torch.autograd.grad(
            loss, list(twin.decoder.parameters()) + list(twin.encoder.parameters())
        )
        moments = [
            part.state.mean_gradient.clone() for part in (chain.parts["decoder"], chain.parts["encoder"])
        ]
        chain.step(rows)
        # Adam's first moment gives the gradient back: m' = 0.9 m + 0.1 G.
        gradients = [
            (part.state.mean_gradient - 0.9 * moment) / 0.1
            for part, moment in zip((chain.parts["decoder"], chain.parts["encoder"]), moments, strict=True)
        ]
        torch.testing.assert_close(
            torch.cat(gradients), torch.cat([g.flatten() for g in expected]), rtol=1e-4, atol=1e-4
        )
        assert chain.parts["decoder"].parameters.gradient.abs().max() == 0
        assert chain.parts["encoder"].parameters.gradient.abs().max() == 0


class Weightless(nn.Module):
    """An encoder that has nothing to learn: the first two dimensions are the latents."""

    def forward(self, x):
        return x[:, :2], x.new_full((len(x), 2), -1.0)


@every_variant
def test_an_encoder_without_weights_goes_through_the_whole_driver(vectors, tmp_path, settings):
    vae = VAE(Weightless(), nn.Linear(2, 6), Gaussian(scale=0.5), (6,), 2)
    draws = sample_posterior(vae, vectors, settings, seed=0, held_out=vectors[:5], checkpoint=tmp_path)
    again = sample_posterior(vae, vectors, settings, seed=0, held_out=vectors[:5], checkpoint=tmp_path)
    assert draws.parts["encoder"].stacks == again.parts["encoder"].stacks == {}
    assert torch.equal(flat(draws.parts["decoder"].stacks), flat(again.parts["decoder"].stacks))
    assert "encoder" not in draws.diagnostics.reports[-1].health
    matrix = log_likelihoods(vae, draws, vectors[:3], samples=4)
    assert np.isfinite(matrix.values).all()
    assert len(draws.select(np.array([1]))) == 1


def test_frozen_weights_keep_the_values_they_came_with(vectors, vector_vae):
    """They are in no draw, so the chain must train against what the draws will be scored with."""
    vector_vae.encoder.requires_grad_(False)
    chain = Chain(vector_vae, VARIANTS["variant 1"], vectors, 0, 0)
    for rows in chain.begin_epoch(1):
        chain.step(rows)
    for name, parameter in chain.model.encoder.named_parameters():
        assert torch.equal(parameter, vector_vae.encoder.get_parameter(name))
    draws = sample_posterior(vector_vae, vectors, VARIANTS["variant 1"], seed=0)
    assert draws.parts["encoder"].stacks == {}


@pytest.mark.parametrize("until", [{"adaptation": 1}, {"adaptation_steps": 1}])
def test_adaptation_stops_where_it_should(vectors, vector_vae, until):
    settings = VARIANTS["variant 2"].with_(**until)
    chain = Chain(vector_vae, settings, vectors, 0, 0)
    assert chain.steps_per_epoch > 1
    scales = []
    for epoch in (1, 2):
        EagerEngine([chain]).run_epoch(epoch)
        scales.append(chain.parts["decoder"].state.mean_square.clone())
    assert not torch.equal(scales[0], torch.ones_like(scales[0]))
    assert torch.equal(scales[0], scales[1])
