"""How long the cheap form takes with gradients: 10,000 points of a Fashion-MNIST VAE."""

from __future__ import annotations

import time
from typing import Any

import torch

from dissensus.detector.settings import find_device
from dissensus.latent import LatentSpace
from dissensus.models import build_vae
from dissensus.posterior import SGHMC, SamplingSettings, sample_posterior
from dissensus.seeding import torch_stream

__all__ = ["measure_timing"]

DRAWS = 10


def measure_timing(*, points: int, expected: int, device: str, seed: int = 0) -> dict[str, Any]:
    """Seconds of both forms; weights are as they are after a few steps, for time does not depend on them."""
    where = find_device(device)
    vae = build_vae((1, 28, 28), generator=torch_stream(seed, "timing"))
    images = torch.randint(0, 256, (64, 1, 28, 28), generator=torch_stream(seed, "images")).byte().to(where)
    settings = SamplingSettings.variant_1(SGHMC(), epochs=DRAWS, burn_in=1, batch_size=64)
    space = LatentSpace(vae, sample_posterior(vae, images, settings, seed=seed), device=where)
    z = torch.randn(points, space.size, generator=torch_stream(seed, "points")).to(where).requires_grad_()

    def timed(count: int, **options: Any) -> float:
        asked = z[:count]
        started = time.perf_counter()
        space.disagreement(asked, **options).sum().backward()  # type: ignore[no-untyped-call]
        if where.type == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter() - started

    timed(64)  # kernels are loaded
    cheap = timed(points)
    dear = timed(expected, form="expectation")
    return {
        "points": points,
        "draws": DRAWS,
        "seconds": cheap,
        "expectation, seconds a point": dear / expected,
        "times cheaper": (dear / expected) / (cheap / points),
    }
