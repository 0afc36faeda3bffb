"""Every input sees noise distributed exactly as under a draw of the weights of its own."""

import copy
import math

import pytest
import torch
from torch import nn

from dissensus.errors import SettingsError
from dissensus.models import build_vae
from dissensus.posterior.flat import FlatParameters
from dissensus.posterior.rules.weight_noise import WeightNoise


class Scaled(nn.Module):
    """A user's layer, which is no Linear and no convolution."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 3)
        self.scale = nn.Parameter(torch.tensor([1.0, -0.5, 2.0]))

    def forward(self, x):
        return torch.tanh(self.inner(x)) * self.scale


class Folded(nn.Module):
    """Rows that are not the inputs: three features are three rows of one."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(1, 2)

    def forward(self, x):
        return torch.relu(self.inner(x.reshape(-1, 1))).reshape(len(x), -1)


class Tied(nn.Module):
    """Two layers that share one weight."""

    def __init__(self):
        super().__init__()
        self.one, self.other = nn.Linear(3, 3), nn.Linear(3, 3)
        self.other.weight = self.one.weight

    def forward(self, x):
        return self.other(torch.tanh(self.one(x)))


class Twice(nn.Module):
    """One layer that is used twice, behind one that is used once."""

    def __init__(self):
        super().__init__()
        self.once, self.layer = nn.Linear(3, 3), nn.Linear(3, 3)

    def forward(self, x):
        return self.layer(torch.tanh(self.layer(self.once(x))))


class Cell(nn.Module):
    """A cell that is called in a loop, as in a recurrent network: h ← tanh(Wh + Ux)."""

    def __init__(self):
        super().__init__()
        self.own, self.other = nn.Linear(2, 2), nn.Linear(1, 2, bias=False)

    def forward(self, x):
        h = x.new_zeros(len(x), 2)
        for column in x.split(1, dim=1):
            h = torch.tanh(self.own(h) + self.other(column))
        return h


class Gated(nn.Module):
    """A gated cell in a loop, and a layer that is used once behind it."""

    def __init__(self):
        super().__init__()
        self.gate, self.candidate, self.out = nn.Linear(3, 2), nn.Linear(3, 2), nn.Linear(2, 2)

    def forward(self, x):
        h = x.new_zeros(len(x), 2)
        for column in x.split(1, dim=1):
            seen = torch.cat([h, column], dim=1)
            h = torch.lerp(h, torch.tanh(self.candidate(seen)), torch.sigmoid(self.gate(seen)))
        return self.out(h)


def wide_linear():
    return nn.Sequential(nn.Unflatten(1, (3, 1)), nn.Linear(1, 2), nn.Tanh(), nn.Flatten(), nn.Linear(6, 2))


def images(*layers):
    return nn.Sequential(nn.Unflatten(1, (1, 3)), *layers, nn.Flatten())


NETWORKS = {
    "rows": lambda: nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2, bias=False)),
    "wide": wide_linear,
    "convolution": lambda: images(nn.Conv1d(1, 2, 2), nn.ReLU(), nn.Conv1d(2, 2, 2, groups=2)),
    "transposed": lambda: images(
        nn.ConvTranspose1d(1, 2, 2, stride=2, output_padding=1), nn.ReLU(), nn.ConvTranspose1d(2, 1, 2)
    ),
    "padded by reflection": lambda: images(nn.Conv1d(1, 2, 3, padding=1, padding_mode="reflect"), nn.Tanh()),
    "a user's": Scaled,
    "folded": Folded,
    "tied": Tied,
    "twice": Twice,
    "a cell in a loop": Cell,
    "a gated cell": Gated,
}


def noisy(network, std):
    """The network at its means, with noise to switch on."""
    parameters = FlatParameters(network)
    log_std = torch.full_like(parameters.values, math.log(std))
    log_std += 0.5 * torch.randn(len(log_std), generator=torch.Generator().manual_seed(1))
    noise = WeightNoise(network, parameters, log_std, torch.zeros_like(log_std))
    noise.watch_(lambda: network(torch.ones(2, 3)))
    return noise, parameters, log_std


def made(name):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return NETWORKS[name]()


def plain(network):
    """A copy without noise."""
    network = copy.deepcopy(network)
    for layer in network.modules():
        layer._forward_hooks.clear()
    return network


def under_draws(network, layout, mean, log_std, x, count):
    """Outputs (count, B, O), each with its own draw of the weights."""
    noise = torch.randn(count, len(mean), generator=torch.Generator().manual_seed(9))

    def output(draw):
        return torch.func.functional_call(network, layout.split(draw), (x,))

    return torch.func.vmap(output)(mean + log_std.exp() * noise)


@pytest.mark.parametrize("name", NETWORKS)
def test_outputs_are_distributed_as_under_draws_of_the_weights(name):
    """Mean and covariance over the noise of all outputs of one input."""
    network, runs, copies = made(name), 1500, 4
    noise, parameters, log_std = noisy(network, 0.4)
    mean = parameters.values.clone()
    x = torch.tensor([[0.5, -1.0, 2.0]])
    random, ours = torch.Generator().manual_seed(2), []
    with torch.no_grad():
        for _ in range(runs):
            noise.begin_(random, copies)
            ours.append(network(x.expand(copies, -1)))
            noise.end_()
        theirs = under_draws(plain(network), parameters.layout, mean, log_std, x, 20_000)[:, 0].double()
    ours = torch.cat(ours).double()
    spread = theirs.std(0)
    assert spread.min() > 0.05
    # Where all copies share a draw, as many are independent as there were runs.
    assert ((ours.mean(0) - theirs.mean(0)).abs() < 5 * spread * (1 / runs) ** 0.5).all()
    assert ((ours.T.cov() - theirs.T.cov()).abs() < 0.2 * spread[:, None] * spread[None]).all()
    assert torch.equal(parameters.values, mean)


@pytest.mark.parametrize("name", NETWORKS)
def test_gradients_are_those_of_the_expected_loss(name):
    """∂E[loss]/∂μ and ∂E[loss]/∂log σ against those of the average over plain draws of the weights."""
    # Where all copies share a draw, only other runs make the average a better one; one of them needs many.
    network, runs, copies = made(name), {"a cell in a loop": 4000, "a gated cell": 1000}.get(name, 600), 32
    noise, parameters, log_std = noisy(network, 0.3)
    x, random = torch.tensor([[0.5, -1.0, 2.0]]), torch.Generator().manual_seed(3)
    mean_gradient = torch.zeros_like(log_std)
    for _ in range(runs):
        noise.begin_(random, copies)
        (network(x.expand(copies, -1)) - 1).square().sum().div(runs * copies).backward()
        noise.end_()
        mean_gradient += parameters.gradient
        parameters.gradient.zero_()
    mean, spread = parameters.values.clone().requires_grad_(), log_std.clone().requires_grad_()
    outputs = under_draws(plain(network), parameters.layout, mean, spread, x, 20_000)
    (outputs - 1).square().sum((1, 2)).mean().backward()
    for ours, theirs in ((mean_gradient, mean.grad), (noise.gradient, spread.grad)):
        assert float((ours - theirs).norm() / theirs.norm()) < 0.2


def test_inputs_of_a_batch_are_perturbed_independently():
    """Under flipout two equal inputs share |ΔW| but not its sign: their covariance vanishes."""
    for name in ("rows", "convolution"):
        network = made(name)
        noise, _, _ = noisy(network, 0.3)
        random, outputs = torch.Generator().manual_seed(0), []
        with torch.no_grad():
            for _ in range(2000):
                noise.begin_(random, 2)
                outputs.append(network(torch.ones(2, 3))[:, 0])
                noise.end_()
        correlation = torch.stack(outputs).T.corrcoef()[0, 1]
        assert abs(float(correlation)) < 0.1


def test_without_begin_the_network_is_at_its_means():
    network = made("convolution")
    x = torch.ones(2, 3)
    before = network(x)
    noise, _, _ = noisy(network, 0.3)
    assert torch.equal(network(x), before)
    noise.begin_(torch.Generator().manual_seed(0), 2)
    assert not torch.equal(network(x), before)
    noise.end_()
    assert torch.equal(network(x), before)


def test_only_what_is_used_twice_has_shared_draws():
    network = made("twice")
    noise, parameters, _ = noisy(network, 0.3)
    shared = parameters.layout.split(noise.shared)
    assert {name: bool(piece.all()) for name, piece in shared.items()} == {
        "once.weight": False,
        "once.bias": False,
        "layer.weight": True,
        "layer.bias": True,
    }


def test_a_layer_whose_uses_depend_on_the_inputs_is_refused_by_name():
    class Sometimes(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 3)

        def forward(self, x):
            y = self.layer(x)
            return self.layer(y) if x.sum() > 10 else y

    network = Sometimes()
    noise, _, _ = noisy(network, 0.3)
    noise.begin_(torch.Generator().manual_seed(0), 2)
    with pytest.raises(SettingsError, match="'layer' is used twice for some inputs"):
        network(torch.full((2, 3), 5.0))


def test_every_layer_of_the_package_s_own_networks_has_noise_of_its_own():
    vae = build_vae((1, 16, 16), generator=torch.Generator().manual_seed(0))
    for network in (vae.encoder, vae.decoder):
        parameters = FlatParameters(network)
        zeros = torch.zeros_like(parameters.values)
        assert WeightNoise(network, parameters, zeros, zeros.clone()).shared is None
