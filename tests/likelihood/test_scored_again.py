"""What a fast scorer cannot tell is scored again by the model itself, and nothing else is."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

from dissensus.likelihood import log_likelihoods
from dissensus.likelihood.rows import AHEAD
from dissensus.models import VAE, build_vae
from dissensus.models.vae.half_precision import TOLERANCE, ReducedScorer
from dissensus.models.vae.scorer import ReferenceScorer, compiled_scorer, tile_scorer

EXACT = {}  # what several tests compare with, made once


@pytest.fixture(params=[1, 4], ids=lambda samples: f"K={samples}")
def case(request):
    """A VAE, and how many samples it is scored with."""
    random = torch.Generator().manual_seed(0)
    vae = build_vae((1, 16, 16), latent_size=4, widths=(6, 8), hidden=8, generator=random)
    return vae, request.param


def times(vae, factor):
    other = copy.deepcopy(vae)
    with torch.no_grad():
        for parameter in other.decoder.parameters():
            parameter *= factor
    return other


def has_far_inputs(vae):
    """An encoder that sends every input with a bright first pixel where half precision overflows."""

    class Far(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = vae.encoder

        def forward(self, x):
            mean, log_std = self.encoder(x).chunk(2, dim=1)
            return torch.where(x[:, 0, :1, 0] == 1, 1e8, 1.0) * mean, log_std

    return VAE(Far(), vae.decoder, vae.observation, vae.input_shape, vae.latent_size)


def reduced(vae, noise, *_):
    """Half precision wherever it runs."""
    return ReducedScorer(vae, noise)


def check_what_is_scored_again(case, draws_of, encoder_of, device, make, rtol, unbearable=2):
    """Inputs that overflow, and a whole draw, come out as in single precision, the others do not."""
    vae, samples = case
    factors = [1.0, 1.1, 0.95, 0.9]
    factors[unbearable] = 30.0
    vaes = [has_far_inputs(times(vae, factor)) for factor in factors]
    random = torch.Generator().manual_seed(5)
    x = torch.randint(0, 255, (75, 1, 16, 16), dtype=torch.uint8, generator=random)
    far = np.array([3, 17, 70])
    x[far, 0, 0, 0] = 255

    def scored(scorer):
        draws = draws_of(vaes, encoder_of)
        return log_likelihoods(vaes[0], draws, x, samples=samples, device=device, scorer=scorer)

    asked = samples, tuple(encoder_of), device, unbearable
    if asked not in EXACT:
        EXACT[asked] = scored(ReferenceScorer)
    exact, found = EXACT[asked], scored(make)
    for name in ("values", "errors"):
        one, other = getattr(exact, name), getattr(found, name)
        np.testing.assert_allclose(other[unbearable], one[unbearable], rtol=rtol)
        np.testing.assert_allclose(other[:, far], one[:, far], rtol=rtol)
    near = np.setdiff1d(np.arange(75), far)
    difference = np.delete(np.abs(found.values - exact.values)[:, near], unbearable, axis=0)
    assert (difference > 0).mean() > 0.9
    assert difference.max() <= TOLERANCE


@pytest.mark.parametrize("unbearable", [0, 2, 3])
@pytest.mark.parametrize("ahead", [0, 1, 2])
@pytest.mark.parametrize("encoder_of", [[0, 0, 0, 0], [0, 1, 2, 3]])
def test_what_it_cannot_tell_is_scored_again(case, draws_of, monkeypatch, ahead, encoder_of, unbearable):
    """Also where other draws have been begun in the meantime."""
    monkeypatch.setitem(AHEAD, "cpu", ahead)
    check_what_is_scored_again(case, draws_of, encoder_of, "cpu", reduced, 1e-12, unbearable)


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("make", "encoder_of"),
    [
        (tile_scorer, [0, 0, 0, 0]),
        (tile_scorer, [0, 1, 2, 3]),
        (compiled_scorer, [0, 1, 2, 3]),  # which takes seconds to compile
    ],
)
def test_on_a_gpu_what_it_cannot_tell_is_scored_again(case, draws_of, make, encoder_of):
    check_what_is_scored_again(case, draws_of, encoder_of, "cuda", make, rtol=1e-6)
