"""VAEs from shapes, presets and saved descriptions."""

import json

import pytest
import torch
from torch import nn

from dissensus.errors import SettingsError
from dissensus.models import (
    OBSERVATIONS,
    PRESETS,
    VAE,
    Bernoulli,
    Gaussian,
    architecture_config,
    build_vae,
    preset,
    vae_from_config,
)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("shape", [(1, 28, 28), (3, 10, 13), (7,)], ids=str)
@pytest.mark.parametrize("name", OBSERVATIONS)
def test_description_and_weights_give_the_same_model(shape, name):
    widths = (3, 5)
    vae = build_vae(shape, latent_size=2, observation=name, widths=widths, generator=seeded())
    config = json.loads(json.dumps(architecture_config(vae)))
    again = vae_from_config(config)
    again.load_state_dict(vae.state_dict())
    x, noise = torch.rand(3, *shape, generator=seeded()), torch.randn(3, 2, generator=seeded())
    assert torch.equal(again.elbo(x, noise), vae.elbo(x, noise))
    assert architecture_config(again) == config


@pytest.mark.parametrize("hidden", [0, 9])
def test_dense_layer_is_described(hidden):
    vae = build_vae((1, 8, 8), hidden=hidden, generator=seeded())
    assert vae_from_config(architecture_config(vae)).state_dict().keys() == vae.state_dict().keys()


def test_custom_networks_are_asked_for():
    encoder, decoder = nn.Linear(3, 4), nn.Linear(2, 3)
    config = architecture_config(VAE(encoder, decoder, Gaussian(scale=0.2), (3,), 2))
    assert config["kind"] == "custom"
    with pytest.raises(SettingsError, match="encoder= and decoder="):
        vae_from_config(config)
    again = vae_from_config(config, encoder=encoder, decoder=decoder)
    assert again.observation == Gaussian(scale=0.2)
    assert again.input_shape == (3,)


def test_half_custom_is_custom():
    made = build_vae((3,), latent_size=2, generator=seeded())
    assert architecture_config(VAE(made.encoder, nn.Linear(2, 3), Bernoulli(), (3,), 2))["kind"] == "custom"


def test_other_descriptions_are_refused():
    config = architecture_config(build_vae((3,), generator=seeded()))
    with pytest.raises(SettingsError, match="kind='transformer'"):
        vae_from_config({**config, "kind": "transformer"})
    with pytest.raises(SettingsError, match="leave encoder="):
        vae_from_config(config, encoder=nn.Identity())


def test_weights_are_a_function_of_the_generator_alone():
    state = torch.random.get_rng_state()
    first, again, other = (build_vae((1, 9, 8), generator=seeded(seed)) for seed in (1, 1, 2))
    assert torch.equal(state, torch.random.get_rng_state())
    for name, value in first.state_dict().items():
        assert torch.equal(value, again.state_dict()[name])
        assert name.endswith("bias") or not torch.equal(value, other.state_dict()[name])


@pytest.mark.parametrize(
    ("shape", "latent_size"),
    [((1, 28, 28), 20), ((3, 32, 32), 40), ((1,), 1), ((2,), 1), ((9,), 5), ((500,), 32)],
)
def test_default_latent_size(shape, latent_size):
    assert build_vae(shape, generator=seeded()).latent_size == latent_size


@pytest.mark.parametrize("shape", [(), (4, 4), (1, 2, 3, 4)])
def test_shapes_that_are_neither_images_nor_vectors(shape):
    with pytest.raises(SettingsError, match="channels, height, width"):
        build_vae(shape, generator=seeded())


def test_hidden_is_for_images():
    with pytest.raises(SettingsError, match="widths"):
        build_vae((4,), hidden=8, generator=seeded())


@pytest.mark.parametrize("name", PRESETS)
def test_presets_build(name):
    chosen = preset(name)
    vae = chosen.build(seeded())
    assert chosen.name == name
    assert vae.input_shape == chosen.input_shape
    assert vae.observation == Bernoulli()
    assert vae.latent_size == {"paper-fashion-mnist": 50, "paper-svhn": 40}[name]
    assert architecture_config(vae)["widths"] == list(chosen.widths)
    assert architecture_config(vae)["hidden"] == {"paper-fashion-mnist": 256, "paper-svhn": 0}[name]


def test_unknown_preset():
    with pytest.raises(SettingsError, match="paper-fashion-mnist, paper-svhn"):
        preset("paper")
