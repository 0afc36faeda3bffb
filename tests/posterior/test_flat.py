"""Parameters as views of one buffer: the module must not notice."""

import copy

import torch
from torch import nn

from dissensus.posterior.flat import FlatParameters, Layout


class Nested(nn.Module):
    """Submodules in submodules, a bare parameter, a scalar one, a frozen one, and one with no gradient."""

    def __init__(self):
        super().__init__()
        self.body = nn.ModuleDict({"inner": nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2))})
        self.offset = nn.Parameter(torch.randn(2))
        self.gain = nn.Parameter(torch.tensor(1.5))
        self.frozen = nn.Parameter(torch.randn(2), requires_grad=False)
        self.unused = nn.Parameter(torch.randn(3, 1))

    def forward(self, x):
        return self.gain * self.body["inner"](x) + self.offset + self.frozen


def flattened():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        plain = Nested()
        x = torch.randn(5, 4)
    module = copy.deepcopy(plain)
    return plain, module, FlatParameters(module), x


def test_module_computes_the_same_after_flattening():
    plain, module, _, x = flattened()
    assert torch.equal(plain(x), module(x))
    assert {n: p.shape for n, p in plain.named_parameters()} == {
        n: p.shape for n, p in module.named_parameters()
    }


def test_layout_names_what_is_trained_in_the_module_s_order():
    plain, _, flat, _ = flattened()
    trained = {name: tuple(p.shape) for name, p in plain.named_parameters() if p.requires_grad}
    assert flat.layout.names == tuple(trained)
    assert flat.layout.shapes == tuple(trained.values())
    assert "body.inner.0.weight" in flat.layout.names
    assert "frozen" not in flat.layout.names
    assert sum(flat.layout.sizes) == flat.values.numel() == 12 + 3 + 6 + 2 + 2 + 1 + 3


def test_moving_the_buffer_moves_the_module():
    plain, module, flat, x = flattened()
    flat.values.mul_(2)
    with torch.no_grad():
        for parameter in plain.parameters():
            if parameter.requires_grad:
                parameter.mul_(2)
    assert torch.equal(plain(x), module(x))


def test_gradients_land_in_the_buffer_and_add_up():
    plain, module, flat, x = flattened()
    for _ in range(2):
        plain(x).square().sum().backward()
        module(x).square().sum().backward()
    assert flat.gradient.abs().sum() > 0
    for name, gradient in flat.layout.split(flat.gradient).items():
        expected = plain.get_parameter(name).grad
        assert torch.equal(gradient, torch.zeros_like(gradient) if expected is None else expected)


def test_split_views_share_memory_with_and_without_leading_axes():
    layout = Layout(("a", "b", "c"), ((2, 3), (), (4,)))
    for lead in ((), (5,), (2, 5)):
        flat = torch.arange(float(11 * torch.Size(lead).numel())).view(*lead, 11)
        parts = layout.split(flat)
        assert [tuple(part.shape) for part in parts.values()] == [(*lead, 2, 3), lead, (*lead, 4)]
        assert torch.equal(parts["b"], flat[..., 6])
        parts["a"].fill_(-1)
        assert (flat[..., :6] == -1).all()
        assert (flat[..., 6:] >= 0).all()


def test_a_module_without_parameters_is_an_empty_buffer():
    flat = FlatParameters(nn.Flatten())
    assert flat.values.shape == flat.gradient.shape == (0,)
    assert flat.layout.split(flat.values) == {}
    assert flat.layout.split(torch.empty(7, 0)) == {}
