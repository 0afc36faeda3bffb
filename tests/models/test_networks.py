"""Convolutional and fully connected networks: every size gives back its own size."""

import pytest
import torch
from torch import nn

from dissensus.errors import SettingsError
from dissensus.models import OBSERVATIONS, ConvolutionalDecoder, ConvolutionalEncoder, build_vae, observation

SIDES = [(8, 8), (9, 9), (11, 8), (15, 16), (28, 28), (31, 33), (32, 32), (8, 65), (65, 47), (64, 64)]


def check_shapes(vae, rows=2):
    Q = vae.observation.parameters_per_dimension
    x = torch.rand(rows, *vae.input_shape)
    with torch.no_grad():
        mean, log_std = vae.encode(x)
        assert mean.shape == log_std.shape == (rows, vae.latent_size)
        assert vae.decode(mean).shape == (rows, Q, *vae.input_shape)
        elbo = vae.elbo(x, torch.zeros_like(mean))
    assert elbo.shape == (rows,)
    assert elbo.isfinite().all()


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("sides", SIDES, ids=str)
def test_images_of_any_size(sides, channels):
    check_shapes(build_vae((channels, *sides), latent_size=3, hidden=16, generator=torch.Generator()))


@pytest.mark.parametrize("shape", [(1, 9, 13), (3, 8, 8), (1,), (2,), (70,)], ids=str)
@pytest.mark.parametrize("name", OBSERVATIONS)
def test_every_observation_model(shape, name):
    check_shapes(build_vae(shape, observation=observation(name), generator=torch.Generator()))


@pytest.mark.parametrize("sides", range(8, 66, 3))
def test_convolutions_go_down_to_sides_of_four_to_seven(sides):
    encoder = ConvolutionalEncoder((1, sides, 8), 2, hidden=0)
    with torch.no_grad():
        deepest = encoder.layers[: 2 * len(encoder.widths)](torch.zeros(1, 1, sides, 8))
    assert deepest.shape[1] == encoder.widths[-1]
    assert 4 <= min(deepest.shape[2:]) <= max(deepest.shape[2:]) <= 7


@pytest.mark.parametrize("widths", [(4,), (4, 5), (4, 5, 6, 7, 8)])
def test_any_number_of_widths(widths):
    check_shapes(build_vae((1, 12, 17), widths=widths, hidden=0, generator=torch.Generator()))


def test_every_output_pixel_and_every_input_pixel_takes_part():
    """Halving an odd side must not leave its last row or column out."""
    generator = torch.Generator().manual_seed(0)
    vae = build_vae((1, 13, 27), generator=generator)
    x = torch.rand(4, 1, 13, 27, generator=generator, requires_grad=True)
    (seen,) = torch.autograd.grad(vae.encoder(x).square().sum(), x)
    assert (seen.abs().sum(0) > 0).all()
    with torch.no_grad():
        decoded = vae.decode(torch.randn(8, vae.latent_size, generator=generator))
    assert (decoded.std(0) > 0).all()


def test_rows_do_not_see_each_other():
    vae = build_vae((3, 11, 9), generator=torch.Generator().manual_seed(0))
    x, noise = torch.rand(5, 3, 11, 9), torch.randn(5, vae.latent_size)
    together = vae.elbo(x, noise)
    alone = torch.cat([vae.elbo(x[i : i + 1], noise[i : i + 1]) for i in range(5)])
    torch.testing.assert_close(together, alone, rtol=1e-6, atol=0)


@pytest.mark.parametrize("shape", [(1, 7, 28), (1, 28), (0, 8, 8)])
def test_shapes_no_convolution_can_take(shape):
    for network in (ConvolutionalEncoder, ConvolutionalDecoder):
        with pytest.raises(SettingsError, match="at least 8"):
            network(shape, 2)


def test_nothing_normalises_or_drops():
    vae = build_vae((3, 32, 32), generator=torch.Generator())
    kinds = {
        next(kind for kind in type(module).__mro__ if kind.__module__.startswith("torch.nn"))
        for module in vae.modules()
        if not list(module.children())
    }
    assert kinds == {nn.Conv2d, nn.ConvTranspose2d, nn.Linear, nn.ReLU, nn.Flatten, nn.Unflatten}


@pytest.mark.parametrize(
    ("shape", "parameters"), [((1, 28, 28), 1), ((1, 9, 11), 2), ((3, 16, 17), 1), ((3, 8, 8), 2)]
)
def test_the_decoder_is_the_plain_layers_it_is_made_of(shape, parameters):
    """Whatever memory layout and kernels it chooses; values and gradients."""
    decoder = ConvolutionalDecoder(shape, 5, parameters, widths=(8, 12) if shape[1] > 8 else (8,))
    plain = nn.Sequential()
    for layer in decoder.layers:
        if isinstance(layer, nn.ConvTranspose2d):
            copied = nn.ConvTranspose2d(
                layer.in_channels,
                layer.out_channels,
                layer.kernel_size,
                layer.stride,
                padding=layer.padding,
                output_padding=layer.output_padding,
            )
            copied.load_state_dict(layer.state_dict())
            layer = copied
        elif isinstance(layer, nn.Unflatten):
            layer = nn.Unflatten(layer.dim, layer.unflattened_size)
        plain.append(layer)
    z = torch.randn(7, 5, generator=torch.Generator().manual_seed(0))
    results = []
    for network in (decoder, plain):
        own = z.clone().requires_grad_()
        network.zero_grad()
        output = network(own)
        output.square().sum().backward()
        results.append([output, own.grad, *(p.grad.clone() for p in network.parameters())])
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)
