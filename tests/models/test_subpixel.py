"""The sub-pixel form is the same function."""

import pytest
import torch

from dissensus.models import build_vae
from dissensus.models.vae.subpixel import SubpixelDecoder


def decoder_of(shape, seed=0, **settings):
    settings = {"latent_size": 5, "widths": (6, 7), "hidden": 9} | settings
    return build_vae(shape, generator=torch.Generator().manual_seed(seed), **settings).decoder


@pytest.mark.parametrize("shape", [(1, 28, 28), (3, 32, 32), (2, 16, 24)])
@pytest.mark.parametrize("hidden", [0, 9])
@pytest.mark.parametrize("observation", ["bernoulli", "discretised-logistic"])
def test_in_double_precision_it_is_the_decoder_itself(shape, hidden, observation):
    decoder = decoder_of(shape, hidden=hidden, observation=observation).double()
    z = torch.randn(4, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    found = SubpixelDecoder(decoder, torch.float64)(z)
    torch.testing.assert_close(found, decoder(z).float(), rtol=1e-5, atol=1e-6)


def test_other_weights_go_into_the_same_buffers():
    decoder, other = decoder_of((1, 28, 28)), decoder_of((1, 28, 28), seed=2)
    form = SubpixelDecoder(decoder, torch.float32)
    addresses = {name: buffer.data_ptr() for name, buffer in form.named_buffers()}
    before = {name: weight.clone() for name, weight in decoder.named_parameters()}
    form.copy_from(other)
    assert all(torch.equal(before[name], weight) for name, weight in decoder.named_parameters())
    z = torch.randn(3, 5, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(form(z), other(z), rtol=1e-4, atol=1e-5)
    assert addresses == {name: buffer.data_ptr() for name, buffer in form.named_buffers()}


def test_sides_that_do_not_halve_evenly_are_left_to_transposed_convolutions():
    assert SubpixelDecoder.fits(decoder_of((1, 28, 28)))
    assert not SubpixelDecoder.fits(decoder_of((1, 30, 28)))  # 15 has no half
    assert not SubpixelDecoder.fits(decoder_of((1, 8, 40)))  # a side that waits has another kernel
    assert not SubpixelDecoder.fits(torch.nn.Linear(5, 784))


def test_an_overflow_comes_out_as_nan_and_never_as_a_number():
    decoder = decoder_of((1, 28, 28))
    form = SubpixelDecoder(decoder, torch.float16)
    z = torch.ones(2, 5)
    z[1] = 6e4
    found = form(z)
    assert found[0].isfinite().all()
    assert found[1].isnan().any()
    assert not found[1].isinf().any()
    # Where a number did come out, no infinity was on its way.
    exact = decoder(z)[1]
    kept = found[1].isfinite()
    torch.testing.assert_close(found[1][kept], exact[kept], rtol=0.02, atol=1.0)
