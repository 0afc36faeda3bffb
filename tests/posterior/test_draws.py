"""Weight draws: chosen, grouped, read from a file, loaded into a module."""

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from dissensus.likelihood import log_likelihoods
from dissensus.posterior import SamplingSettings, WeightDraws, load_weights, sample_posterior


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
        assert same(some.decoder_weights(new), draws.decoder_weights(old))
        assert same(some.encoder_weights(some.encoder_of[new]), draws.encoder_weights(draws.encoder_of[old]))
    assert some.chain.tolist() == draws.chain[chosen].tolist()
    assert some.epoch.tolist() == draws.epoch[chosen].tolist()
    encoders = {int(draws.encoder_of[m]) for m in chosen}
    assert all(len(stack[:]) == len(encoders) for stack in some.encoder.values())


def test_by_encoder_covers_every_draw_once(first_draws, coupled_draws):
    assert [(e, own.tolist()) for e, own in first_draws.by_encoder()] == [
        (0, [0, 1]),
        (1, [2, 3]),
        (2, [4, 5]),
    ]
    assert [(e, own.tolist()) for e, own in coupled_draws.by_encoder()] == [(m, [m]) for m in range(6)]


@pytest.mark.parametrize("kind", ["first_draws", "coupled_draws"])
def test_stacks_in_a_file_give_the_same_weights_and_matrix(request, kind, tmp_path, vectors, vector_vae):
    draws = request.getfixturevalue(kind)
    for network in ("decoder", "encoder"):
        stacks = {name: stack[:].contiguous() for name, stack in getattr(draws, network).items()}
        save_file(stacks, tmp_path / network)
    with (
        safe_open(tmp_path / "decoder", framework="pt") as decoder,
        safe_open(tmp_path / "encoder", framework="pt") as encoder,
    ):
        filed = WeightDraws(
            {name: decoder.get_slice(name) for name in draws.decoder},
            {name: encoder.get_slice(name) for name in draws.encoder},
            draws.encoder_of,
            draws.chain,
            draws.epoch,
        )
        for m in range(len(draws)):
            assert same(filed.decoder_weights(m), draws.decoder_weights(m))
        for e in np.unique(draws.encoder_of):
            assert same(filed.encoder_weights(int(e)), draws.encoder_weights(int(e)))
        assert same(filed.select(np.array([3, 1])).decoder, draws.select(np.array([3, 1])).decoder)
        matrices = [log_likelihoods(vector_vae, d, vectors[:5], samples=4).values for d in (filed, draws)]
    assert np.array_equal(*matrices)


def test_load_weights_copies_into_the_module_s_own_memory(first_draws, vector_vae):
    weights = first_draws.decoder_weights(4)
    parameters = dict(vector_vae.decoder.named_parameters())
    addresses = {name: p.data_ptr() for name, p in parameters.items()}
    load_weights(vector_vae.decoder, weights)
    assert {name: p.data_ptr() for name, p in parameters.items()} == addresses
    assert same({name: p.detach() for name, p in parameters.items()}, weights)
    assert all(p.requires_grad for p in parameters.values())
