"""Pixels in turn: the density is one, it looks back only, and its factors are what mpmath says."""

import mpmath
import numpy as np
import pytest
import torch

from dissensus.errors import SettingsError
from dissensus.models import LOG_LIKELIHOOD, PixelCNN
from dissensus.models.autoregressive.mixture import (
    LEVELS,
    expected_surprise,
    mixture,
    parameters_per_pixel,
)


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def untrained(shape, **sizes):
    """With weights large enough for every pixel to matter."""
    model = PixelCNN(shape, **{"width": 5, "dilations": (1, 2), "components": 3} | sizes)
    model.initialise_(seeded(0))
    with torch.no_grad():
        model.network.last.weight.mul_(10)
    return model


def terms(model, pictures):
    with torch.no_grad():
        return model.observe(pictures, ())["terms"]


def test_the_probabilities_of_all_pictures_sum_to_one():
    every = torch.cartesian_prod(torch.arange(256), torch.arange(256)).byte().view(-1, 1, 1, 2)
    model = untrained((1, 1, 2), dilations=(1,))
    with torch.no_grad():
        total = sum(model.log_likelihood(some, None, ())[0].exp().sum() for some in every.split(8192))
    assert float(total) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("channel", [0, 1, 2])
def test_the_probabilities_of_a_channel_sum_to_one_given_what_was_before(channel):
    model = untrained((3, 2, 2))
    picture = torch.randint(0, 256, (1, 3, 2, 2), generator=seeded(1)).byte()
    every = picture.repeat(256, 1, 1, 1)
    every[:, channel, 1, 0] = torch.arange(256).byte()
    found = terms(model, every)[:, channel, 1, 0].exp()
    assert float(found.sum()) == pytest.approx(1, abs=1e-5)
    assert float(found.max()) < 0.5  # the predicted law is none that sits on one value


@pytest.mark.parametrize("shape", [(1, 5, 6), (3, 4, 5)])
def test_nothing_looks_at_what_comes_after_and_all_look_at_what_comes_before(shape):
    model, picture = untrained(shape), torch.randint(0, 256, (1, *shape), generator=seeded(1)).byte()
    channels, height, width = shape
    before = terms(model, picture).permute(0, 2, 3, 1).flatten()  # in the order of the density
    for place in range(height * width):
        for channel in range(channels):
            changed = picture.clone()
            changed[0, channel, place // width, place % width] ^= 128
            after = terms(model, changed).permute(0, 2, 3, 1).flatten()
            own = place * channels + channel
            assert torch.equal(after[:own], before[:own])
            assert after[own] != before[own]
            if own + 1 < len(before):
                next_row = place % width == width - 1 and channel == channels - 1
                seen = after[own + 1 :] if next_row else after[own + 1 : own + 2]
                assert (seen != before[own + 1 :][: len(seen)]).any()


def test_the_terms_add_up_to_the_log_likelihood():
    model, pictures = untrained((3, 4, 5)), torch.randint(0, 256, (6, 3, 4, 5), generator=seeded(1)).byte()
    with torch.no_grad():
        log_p, error = model.log_likelihood(pictures, None, ())
        seen = model.observe(pictures, ())
    torch.testing.assert_close(seen["terms"].flatten(1).sum(1), log_p, rtol=1e-6, atol=1e-4)
    assert torch.equal(seen[LOG_LIKELIHOOD], log_p)
    assert not error.any()


def by_mpmath(levels, parameters, components):
    """log p of one pixel (C,) given parameters (Q,), by the definition, with fifty digits."""
    C = len(levels)
    own = parameters.reshape(components, -1)
    with mpmath.workdps(50):
        total, before = mpmath.mpf(0), [mpmath.mpf(int(level)) / LEVELS for level in levels]
        norm = sum(mpmath.exp(row[0]) for row in own)
        for i, row in enumerate(own):
            weight, shift, scale, link = row[0], row[1 : 1 + C], row[1 + C : 1 + 2 * C], row[1 + 2 * C :]
            product = mpmath.exp(weight) / norm
            for c, level in enumerate(levels):
                location = shift[c] + mpmath.mpf(2 * i + 1) / (2 * components)
                for b in range(c):
                    location += mpmath.tanh(link[c * (c - 1) // 2 + b]) * (before[b] - mpmath.mpf(1) / 2)
                s = mpmath.exp(-2 + 5 * mpmath.tanh(scale[c] / 5))
                bin_ = mpmath.mpf(1) / (2 * LEVELS)

                def tail(edge, side, location=location, s=s):  # without a difference from 1
                    return 1 / (1 + mpmath.exp(side * (edge - location) / s))

                low, high = before[c] - bin_, before[c] + bin_
                if before[c] > location:
                    upper = 1 if level == 0 else tail(low, 1)
                    lower = 0 if level == 255 else tail(high, 1)
                else:
                    upper = 1 if level == 255 else tail(high, -1)
                    lower = 0 if level == 0 else tail(low, -1)
                product *= upper - lower
            total += product
        return float(mpmath.log(total))


@pytest.mark.parametrize("size", [0.5, 3.0, 12.0])
@pytest.mark.parametrize("channels", [1, 3])
def test_a_pixel_s_density_is_what_mpmath_says(channels, size):
    components, N = 3, 40
    rng = np.random.default_rng(0)
    parameters = np.float32(size * rng.normal(size=(N, parameters_per_pixel(channels, components))))
    levels = rng.choice([0, 1, 17, 128, 254, 255], size=(N, channels))
    x = torch.from_numpy(np.float32(levels) / np.float32(255)).view(N, channels, 1, 1)
    found = mixture(x, torch.from_numpy(parameters).view(N, -1, 1, 1)).log_prob().flatten()
    expected = [by_mpmath(*pixel, components) for pixel in zip(levels, parameters.astype(float), strict=True)]
    # Of float32: a location is known to 1e-6 or so, which the narrowest scale makes a thousand times more.
    np.testing.assert_allclose(found.numpy(), expected, rtol=2e-4, atol=2e-3)
    exact = mixture(x.double(), torch.from_numpy(parameters).double().view(N, -1, 1, 1)).log_prob().flatten()
    np.testing.assert_allclose(exact.numpy(), expected, rtol=1e-5, atol=1e-5)


def test_gradients_are_those_of_finite_differences():
    model = untrained((3, 3, 3), width=2, dilations=(1,), components=2).double()
    x = torch.randint(0, 256, (1, 3, 3, 3), generator=seeded(1)).double() / 255
    x[0, :, 1, 1] = torch.tensor([0.0, 1.0, 0.5])
    for name, weight in model.named_parameters():
        if name.endswith("bias"):  # zeros are where a rectifier has its kink
            torch.nn.init.normal_(weight, generator=seeded(2))
    own = {f"model.{name}": p.detach().requires_grad_() for name, p in model.named_parameters()}

    def objective(*weights):
        return torch.func.functional_call(Asked(model), dict(zip(own, weights, strict=True)), x)

    assert torch.autograd.gradcheck(objective, tuple(own.values()), eps=1e-6, atol=1e-5)


class Asked(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model.objective(x, None)


def test_what_a_prediction_expects_is_its_entropy():
    """Of one component whose scale is wider than a bin and whose law lies within the grey levels."""
    parameters = torch.tensor([0.0, 0.0, -1.8]).view(1, 3, 1, 1).expand(256, -1, 1, 1)  # s = e^-3.7
    told = mixture(torch.arange(256).view(256, 1, 1, 1) / 255, parameters)
    log_p = told.log_prob().double().flatten()
    entropy = -(log_p.exp() * log_p).sum()
    torch.testing.assert_close(expected_surprise(told)[0].sum().double(), entropy, rtol=0, atol=0.01)


def test_codes_of_pictures_that_the_model_draws_are_uniform():
    """One pixel at a time, by the law that the model itself gives it."""
    model, drawn = untrained((1, 1, 4)), torch.zeros(400, 1, 1, 4).byte()
    random = seeded(5)
    for place in range(4):
        every = drawn[:, None].repeat(1, 256, 1, 1, 1)
        every[..., place] = torch.arange(256).byte().view(1, 256, 1, 1)
        law = terms(model, every.flatten(0, 1))[..., place].view(400, 256).exp()
        drawn[:, 0, 0, place] = torch.multinomial(law.float(), 1, generator=random)[:, 0].byte()
    with torch.no_grad():
        seen = model.observe(drawn, ())
        shifted = model.observe(255 - drawn, ())
    # E W² = 1/6 for uniform numbers, whatever D is.
    assert float(seen["misfit"].exp().mean()) == pytest.approx(1 / 6, abs=0.03)
    assert abs(float(seen["dependence"].mean())) < 0.1
    assert float(shifted["misfit"].exp().mean()) > 0.25


def test_the_gradient_s_length_is_that_of_autograd():
    model = untrained((3, 4, 5))
    pictures = torch.randint(0, 256, (4, 3, 4, 5), generator=seeded(1)).byte()
    pictures[0, :, :2], pictures[1, :, :2] = 0, 255
    with torch.no_grad():
        found = model.observe(pictures, ())["gradient"].exp()
    channels, rows = 3, model.components
    own = 1 + 2 * channels + channels  # weight, locations, scales, links of a component
    counted = [i * own + j for i in range(rows) for j in range(1 + channels)]
    for picture, length in zip(pictures.split(1), found, strict=True):
        model.zero_grad()
        model.objective(picture, None).sum().backward()
        gradient = model.network.last.weight.grad[counted]
        assert float(gradient.double().square().sum()) == pytest.approx(float(length), rel=1e-3)


def test_floats_are_rounded_to_grey_levels():
    model, pictures = untrained((1, 4, 4)), torch.randint(0, 256, (3, 1, 4, 4), generator=seeded(1)).byte()
    floats = pictures / 255 + 0.3 / 255
    assert torch.equal(terms(model, floats.clamp(0, 1)), terms(model, pictures))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"input_shape": (5,)}, "take a flow"),
        ({"input_shape": (7, 8, 8)}, "at most 4 channels"),
        ({"input_shape": (1, 8, 8), "width": 0}, "width must lie between"),
        ({"input_shape": (1, 8, 8), "dilations": ()}, "dilations must lie between"),
        ({"input_shape": (1, 8, 8), "dilations": (99999, 1)}, "each of dilations"),
    ],
)
def test_what_no_density_can_be_made_of_is_refused(arguments, words):
    with pytest.raises(SettingsError, match=words):
        PixelCNN(**arguments)


def test_layers_in_bfloat16_lead_where_exact_ones_do():
    """On a GPU, training takes them."""
    model, pictures = untrained((3, 8, 8)), torch.randint(0, 256, (6, 3, 8, 8), generator=seeded(1)).byte()
    x, found = model.read(pictures), []
    for layers in (model.network, model.network.roughly):
        model.zero_grad()
        log_p = mixture(x, layers(x)).log_prob().flatten(1).sum(1)
        log_p.sum().backward()
        found.append((log_p.detach(), torch.cat([p.grad.flatten() for p in model.parameters()])))
    (exact, gradient), (rough, near) = found
    assert not torch.equal(rough, exact)
    torch.testing.assert_close(rough, exact, rtol=0.005, atol=0)
    assert float((near - gradient).norm()) < 0.05 * float(gradient.norm())
