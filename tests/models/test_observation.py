"""Looking observation models up, and what is particular to one of them."""

import json

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.errors import SettingsError
from dissensus.models import (
    OBSERVATIONS,
    Bernoulli,
    Categorical,
    ContinuousBernoulli,
    DiscretisedLogistic,
    Gaussian,
    observation,
    observation_from_config,
)


@pytest.mark.parametrize("name", OBSERVATIONS)
def test_found_by_name_and_described_in_json(name):
    model = observation(name)
    assert model.name == name
    assert observation_from_config(json.loads(json.dumps(model.to_config()))) == model


def test_an_instance_is_handed_back():
    model = Gaussian(scale=0.3)
    assert observation(model) is model
    with pytest.raises(SettingsError, match="already made"):
        observation(model, scale=0.2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: observation("poisson"), "bernoulli, continuous-bernoulli, gaussian"),
        (lambda: observation("gaussian", sclae=1.0), "sclae"),
        (lambda: observation_from_config({"scale": 1.0}), "name"),
        (lambda: Gaussian(scale=0.0), "scale=0.0"),
        (lambda: Gaussian(scale=float("nan")), "scale=nan"),
        (lambda: Gaussian(scale=None, floor=-1.0), "floor=-1.0"),
        (lambda: Categorical(levels=1), "levels=1"),
        (lambda: DiscretisedLogistic(levels=0), "levels=0"),
    ],
)
def test_wrong_settings_are_named(make, message):
    with pytest.raises(SettingsError, match=message):
        make()


@settings(derandomize=True, deadline=None)
@given(x=st.floats(0, 1), logit=st.floats(-1e4, 1e4))
def test_continuous_bernoulli_is_symmetric(x, logit):
    one, other = (
        ContinuousBernoulli().log_prob(
            torch.tensor([[value]], dtype=torch.float64),
            torch.tensor([[[sign * logit]]], dtype=torch.float64),
        )
        for value, sign in ((x, 1), (1 - x, -1))
    )
    torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-10)


@settings(derandomize=True, deadline=None)
@given(logit=st.floats(-20, 20))
def test_continuous_bernoulli_is_the_bernoulli_and_its_normaliser(logit):
    x = torch.tensor([[0.0], [0.3], [1.0]], dtype=torch.float64)
    parameters = torch.full((3, 1, 1), logit, dtype=torch.float64)
    difference = ContinuousBernoulli().log_prob(x, parameters) - Bernoulli().log_prob(x, parameters)
    assert torch.allclose(difference, difference[:1], atol=1e-9)  # the same for every x
    assert difference.min() >= 0.69  # C(λ) ≥ 2, at λ = ½


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_bernoulli_is_the_same_with_gradients_and_without(dtype):
    logits = torch.cat([torch.linspace(-60, 60, 481), torch.tensor([-1e4, -200.0, 200.0, 1e4])]).to(dtype)
    parameters, model = logits[None, None], Bernoulli()
    for x in (0.0, 0.3, 1.0):
        inputs = torch.full_like(logits, x)[None]
        with torch.no_grad():
            without = model.log_prob_terms(inputs, parameters)
        torch.testing.assert_close(
            without,
            model.log_prob_terms(inputs, parameters),
            rtol=4 * torch.finfo(dtype).eps,
            atol=64 * torch.finfo(dtype).eps,
        )


def test_learned_scale_never_falls_below_its_floor():
    model = Gaussian(scale=None, floor=0.05)
    x = model.sample(torch.tensor([0.0, -100.0]).reshape(1, 2, 1).expand(1, 2, 50_000), torch.Generator())
    assert x.std().item() == pytest.approx(0.05, rel=0.02)


@pytest.mark.parametrize("model", [Categorical(), DiscretisedLogistic()])
def test_eight_bit_pixels_find_their_level_in_single_precision(model):
    """Whatever rounding k/255 went through on its way, a pixel gets its own level's probability."""
    k = torch.arange(256)
    parameters = torch.randn(1, model.parameters_per_dimension, 1, generator=torch.Generator().manual_seed(0))
    parameters = parameters.expand(256, -1, 1)
    from_single = model.log_prob((k.float() / 255)[:, None], parameters)
    assert from_single.exp().sum().item() == pytest.approx(1, abs=1e-5)
    just_below = torch.nextafter(k.float() / 255, torch.tensor(-1.0))
    assert torch.equal(model.log_prob(just_below[:, None], parameters), from_single)
    from_double = model.log_prob((k.double() / 255)[:, None], parameters)
    torch.testing.assert_close(from_single, from_double, rtol=1e-6, atol=1e-6)
