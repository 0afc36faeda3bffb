"""Gradients by the last layer, in closed form, are those of autograd; and only who asks for them pays."""

import numpy as np
import pytest
import torch
from torch import nn

from dissensus import Detector
from dissensus.errors import SettingsError
from dissensus.export import export_gate
from dissensus.likelihood import input_statistics
from dissensus.models import VAE, Bernoulli, DeepVAE, build_vae
from dissensus.models.vae.gradient import gradient_norm, last_layer
from dissensus.scores import Fused

SHAPE = (3, 8, 8)


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def own_vae(*layers):
    """A decoder that ends in other layers, from six latent numbers."""
    encoder = nn.Sequential(nn.Flatten(), nn.Linear(192, 12))
    return VAE(encoder, nn.Sequential(*layers), Bernoulli(), SHAPE, 6)


def models():
    torch.manual_seed(0)
    yield build_vae(SHAPE, generator=seeded(0), latent_size=6, widths=[5, 7])
    yield DeepVAE(SHAPE, latents=(6, 2), widths=[5, 7], observation="discretised-logistic")
    yield own_vae(nn.Linear(6, 192))
    yield own_vae(nn.Linear(6, 4 * 64), nn.Unflatten(1, (4, 8, 8)), nn.Tanh(), nn.Conv2d(4, 3, 3, padding=1))
    yield own_vae(
        nn.Linear(6, 64),
        nn.Unflatten(1, (4, 4, 4)),
        nn.ConvTranspose2d(4, 3, 3, stride=2, padding=1, output_padding=1, bias=False),
        nn.Softplus(),
    )
    # A dense layer that is asked about each pixel, and an activation after it that works in place.
    by_pixel = (
        nn.Linear(6, 4 * 64),
        nn.Unflatten(1, (64, 4)),
        nn.Tanh(),
        nn.Linear(4, 3),
        nn.ELU(inplace=True),
    )
    yield own_vae(*by_pixel, nn.Flatten())


@pytest.mark.parametrize("model", list(models()), ids=lambda model: type(last_layer(model.decoder)).__name__)
def test_the_length_is_that_of_autograd(model):
    x = torch.rand(3, *SHAPE, generator=seeded(1))
    z = torch.randn(3, model.latent_size, generator=seeded(2))
    weights = list(last_layer(model.decoder).parameters())
    with torch.inference_mode():
        found = gradient_norm(model.decoder, model.log_prob, x, z)
    for number in range(3):
        log_p = model.log_prob(x[number : number + 1], z[number : number + 1]).sum()
        exact = sum(each.double().square().sum() for each in torch.autograd.grad(log_p, weights))
        assert float(found[number]) == pytest.approx(float(exact.log()), abs=1e-4)
    assert all(p.grad is None for p in model.parameters())


def test_a_decoder_that_ends_in_something_else_is_refused_in_a_sentence():
    model = own_vae(nn.Linear(6, 192), nn.LayerNorm(192))
    with pytest.raises(SettingsError, match="this one's is LayerNorm: leave it out"):
        gradient_norm(model.decoder, model.log_prob, torch.rand(1, *SHAPE), torch.zeros(1, 6))


def test_who_asks_for_the_code_alone_needs_no_gradient():
    model = own_vae(nn.Linear(6, 192), nn.LayerNorm(192))
    told = model.observe_further(torch.rand(2, *SHAPE), (torch.zeros(2, 6), torch.zeros(2, 6)), {"misfit"})
    assert set(told) == {"misfit"}


@pytest.fixture(scope="module")
def pictures():
    return np.random.default_rng(0).integers(0, 256, (60, 8, 8), dtype=np.uint8)


def test_only_a_score_that_names_them_measures_them(pictures, monkeypatch, tmp_path):
    asked = []
    further = VAE.observe_further
    monkeypatch.setattr(VAE, "observe_further", lambda *given: asked.append(1) or further(*given))
    settings = {"epochs": 2, "chains": 1, "draws": 2, "samples": 2, "device": "cpu"}
    with pytest.warns(UserWarning, match=r"\w"):
        plain = Detector(model="vae", **settings).fit(pictures)
    assert not {"code-fit", "gradient-norm"} & set(plain.statistics(pictures[:3]))
    assert not asked
    named = Fused(["corrected-ll", "code-fit", "gradient-norm"], depth="gaussian")
    with pytest.warns(UserWarning, match=r"\w"):
        gate = Detector(model="vae", statistic=named, **settings).fit(pictures)
    told = gate.statistics(pictures[:3])
    assert {"code-fit", "gradient-norm"} <= set(told)
    alone = input_statistics(
        gate.model_, gate.draws_, torch.from_numpy(pictures[:3])[:, None], only=["gradient-norm"]
    )
    np.testing.assert_array_equal(alone["gradient-norm"], told["gradient-norm"])
    with pytest.raises(SettingsError, match="names 'code-fit' cannot be exported"):
        export_gate(gate, tmp_path / "gate.onnx")
