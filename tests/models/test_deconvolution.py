"""Transposed convolutions by other kernels than torch's general one are the same."""

import pytest
import torch
from torch import nn

from dissensus.models.vae.convolutional import Deconvolution


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
@pytest.mark.parametrize(
    ("kernel", "stride", "output_padding"), [((4, 4), (2, 2), (1, 0)), ((4, 3), (2, 1), (0, 0))]
)
def test_equals_torch_s(channels, bias, layout, kernel, stride, output_padding):
    torch.manual_seed(0)
    layer = Deconvolution(
        5, channels, kernel, stride, padding=1, output_padding=output_padding, bias=bias
    ).double()
    x = torch.randn(6, 5, 7, 8, dtype=torch.float64).contiguous(memory_format=layout).requires_grad_()
    expected = nn.ConvTranspose2d.forward(layer, x)
    trained = layer(x)
    torch.testing.assert_close(trained, expected)
    (gradient,) = torch.autograd.grad(trained.square().sum(), x)
    (wanted,) = torch.autograd.grad(expected.square().sum(), x)
    torch.testing.assert_close(gradient, wanted)
    with torch.no_grad():
        torch.testing.assert_close(layer(x), expected)


def test_a_row_gets_the_same_wherever_it_stands():
    torch.manual_seed(0)
    layer, x = Deconvolution(32, 1, 4, 2, padding=1), torch.randn(13, 32, 14, 14)
    with torch.no_grad():
        together = layer(x)
        assert torch.equal(layer(x.flip(0)).flip(0), together)
        assert torch.equal(torch.cat([layer(x[n : n + 1]) for n in range(len(x))]), together)
