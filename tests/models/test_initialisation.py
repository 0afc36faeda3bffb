"""Initial weights: a function of the generator, with the scale the documentation says."""

import pytest
import torch
from torch import nn

from dissensus.models import VAE, Bernoulli, build_vae, initialise


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def weights(module):
    return {name: value.clone() for name, value in module.state_dict().items()}


class Unusual(nn.Module):
    """Layers of many kinds, one parameter nobody knows how to reset."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(4, 3)
        self.norm = nn.GroupNorm(1, 3)
        self.recurrent = nn.GRU(3, 3)
        self.attention = nn.MultiheadAttention(4, 2)
        self.temperature = nn.Parameter(torch.tensor(0.7))
        self.linear = nn.Linear(3, 4)


@pytest.mark.parametrize(
    "make", [Unusual, lambda: nn.Conv1d(2, 3, 3), lambda: build_vae((5,), generator=seeded(9))]
)
def test_same_generator_same_weights(make):
    module, other = make(), make()
    state = torch.random.get_rng_state()
    initialise(module, seeded(1))
    initialise(other, seeded(1))
    assert torch.equal(state, torch.random.get_rng_state())
    first, second = weights(module), weights(other)
    assert all(torch.equal(first[name], second[name]) for name in first)
    initialise(other, seeded(2))
    assert not all(torch.equal(first[name], value) for name, value in weights(other).items())


def test_unknown_layers():
    module = Unusual()
    with torch.no_grad():
        module.norm.weight.fill_(5.0)
    before = weights(module)
    initialise(module, seeded())
    after = weights(module)
    assert torch.equal(after["temperature"], before["temperature"])
    assert torch.equal(after["norm.weight"], torch.ones(3))
    for name in ("table.weight", "recurrent.weight_ih_l0", "attention.in_proj_weight", "linear.weight"):
        assert not torch.equal(after[name], before[name])


@pytest.mark.parametrize(
    ("layer", "fan_in"),
    [
        (nn.Linear(50, 400), 50),
        (nn.Conv2d(8, 64, 4, stride=2), 8 * 16),
        (nn.Conv2d(8, 64, 4, groups=2), 4 * 16),
        (nn.ConvTranspose2d(64, 32, 4, stride=2), 64 * 4),
        (nn.ConvTranspose2d(64, 32, (4, 3), stride=(2, 1)), 64 * 6),
    ],
    ids=str,
)
def test_scale_is_he_inside_and_lecun_at_the_output(layer, fan_in):
    initialise(layer, seeded())
    assert layer.weight.var().item() == pytest.approx(1 / fan_in, rel=0.1)
    assert not layer.bias.any()
    network = nn.Sequential(layer, nn.ReLU(), nn.Linear(3, 3))
    initialise(network, seeded())
    assert layer.weight.var().item() == pytest.approx(2 / fan_in, rel=0.1)


def test_both_halves_of_a_vae_have_an_output():
    vae = VAE(nn.Linear(300, 400), nn.Linear(200, 300), Bernoulli(), (300,), 200)
    vae.initialise_(seeded())
    assert vae.encoder.weight.var().item() == pytest.approx(1 / 300, rel=0.1)
    assert vae.decoder.weight.var().item() == pytest.approx(1 / 200, rel=0.1)


@torch.no_grad()
def test_signal_neither_vanishes_nor_explodes():
    vae = build_vae((3, 64, 64), generator=seeded())
    mean, log_std = vae.encode(torch.rand(16, 3, 64, 64, generator=seeded()))
    logits = vae.decode(torch.randn(16, vae.latent_size, generator=seeded()))
    for value in (mean, log_std, logits):
        assert 0.05 < value.square().mean().sqrt().item() < 5


def test_nothing_is_drawn_for_sizes_that_are_only_claimed():
    generator = seeded()
    before = generator.get_state()
    with torch.device("meta"):
        vae = build_vae((3,), widths=(2**39,), latent_size=1, generator=generator)
    assert torch.equal(generator.get_state(), before)
    assert all(parameter.is_meta for parameter in vae.parameters())
