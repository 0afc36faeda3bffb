"""Weight draws: chosen, grouped, loaded into a module."""

import numpy as np
import pytest
import torch

from dissensus.posterior import SamplingSettings, load_weights, sample_posterior


@pytest.fixture
def first_draws(vectors, vector_vae):
    """Variant 1: three chains of two draws, one encoder each."""
    settings = SamplingSettings.variant_1(epochs=3, burn_in=2, chains=3, batch_size=100)
    return sample_posterior(vector_vae, vectors, settings, seed=0)


@pytest.fixture
def coupled_draws(vectors, vector_vae):
    settings = SamplingSettings.variant_2(epochs=3, burn_in=2, chains=3, batch_size=100)
    return sample_posterior(vector_vae, vectors, settings, seed=0)


def same(a, b):
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


@pytest.mark.parametrize("kind", ["first_draws", "coupled_draws"])
@pytest.mark.parametrize("chosen", [[5], [0, 1], [4, 0, 3], [5, 4, 3, 2, 1, 0], [2, 2]])
def test_select_keeps_every_draw_with_its_encoder(request, kind, chosen):
    draws = request.getfixturevalue(kind)
    some = draws.select(np.array(chosen))
    assert len(some) == len(chosen)
    for new, old in enumerate(chosen):
        for part in ("decoder", "encoder"):
            assert same(some.weights(part, new), draws.weights(part, old))
    assert some.chain.tolist() == draws.chain[chosen].tolist()
    assert some.epoch.tolist() == draws.epoch[chosen].tolist()
    encoders = {int(draws.parts["encoder"].of[m]) for m in chosen}
    assert all(len(stack) == len(encoders) for stack in some.parts["encoder"].stacks.values())


def test_draws_that_share_a_part_are_grouped(first_draws, coupled_draws):
    def groups(draws, *parts):
        return [own.tolist() for own in draws.sharing(parts)]

    assert groups(first_draws, "encoder") == [[0, 1], [2, 3], [4, 5]]
    assert groups(coupled_draws, "encoder") == [[m] for m in range(6)]
    assert groups(first_draws, "encoder", "decoder") == [[m] for m in range(6)]
    assert groups(first_draws) == [[0, 1, 2, 3, 4, 5]]


def test_load_weights_copies_into_the_module_s_own_memory(first_draws, vector_vae):
    weights = first_draws.weights("decoder", 4)
    parameters = dict(vector_vae.decoder.named_parameters())
    addresses = {name: p.data_ptr() for name, p in parameters.items()}
    load_weights(vector_vae.decoder, weights)
    assert {name: p.data_ptr() for name, p in parameters.items()} == addresses
    assert same({name: p.detach() for name, p in parameters.items()}, weights)
    assert all(p.requires_grad for p in parameters.values())
