"""A model small enough to run whole chains in a fraction of a second."""

import pytest
import torch

from dissensus.models import Gaussian, build_vae


@pytest.fixture
def vectors():
    """200 points near a plane in six dimensions, so that two latents explain nearly all."""
    random = torch.Generator().manual_seed(0)
    plane = torch.randn(2, 6, generator=random)
    return torch.randn(200, 2, generator=random) @ plane + 0.1 * torch.randn(200, 6, generator=random)


@pytest.fixture
def vector_vae():
    return build_vae(
        (6,),
        latent_size=2,
        widths=(8,),
        observation=Gaussian(scale=0.5),
        generator=torch.Generator().manual_seed(1),
    )
