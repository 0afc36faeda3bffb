"""Points of a latent space on a GPU."""

import numpy as np
import pytest
import torch

from dissensus.latent import expected_disagreement, mixture_samples
from dissensus.likelihood import log_likelihoods
from dissensus.models import build_vae
from dissensus.models.vae.half_precision import TOLERANCE
from tests.contracts.models import random_draws

pytestmark = pytest.mark.gpu
GPU = "cuda"


@pytest.fixture
def case():
    vae = build_vae((1, 9, 10), latent_size=3, widths=(4,), generator=torch.Generator().manual_seed(0))
    return vae, random_draws(vae, chains=1), torch.randn(6, 3, generator=torch.Generator().manual_seed(1))


def test_disagreement_is_repeated_to_the_bit(case):
    vae, draws, z = case
    first, second = (expected_disagreement(vae, draws, z, inputs=4, samples=4, device=GPU) for _ in range(2))
    assert np.isfinite(first).all()
    np.testing.assert_array_equal(first, second)


def test_what_points_decode_to_is_as_likely_as_a_cpu_says(case):
    vae, draws, z = case
    x = mixture_samples(vae, draws, z, inputs=4, device=GPU)
    assert x.device.type == torch.device(GPU).type
    x = x.flatten(0, 1)
    found = log_likelihoods(vae, draws, x, samples=4, device=GPU).values
    np.testing.assert_allclose(
        found, log_likelihoods(vae, draws, x.cpu(), samples=4).values, rtol=1e-5, atol=TOLERANCE
    )
