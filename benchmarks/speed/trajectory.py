"""Part (h): how far the fast engine's chains are from the plain loop's, step for step with the same noise."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from benchmarks.speed.sizes import Sizes
from benchmarks.speed.subject import conv_vae, images
from dissensus.posterior import SamplingSettings
from dissensus.posterior.chain import Chain
from dissensus.posterior.engines import EagerEngine, engine_for

__all__ = ["measure_trajectory"]

IMAGES = 512
BATCH_SIZE = 64
EPOCHS, ADAPTATION = 2, 1  # so that both kinds of step are run
VARIANTS = {"1": SamplingSettings.variant_1, "2": SamplingSettings.variant_2}


def measure_trajectory(sizes: Sizes, device: torch.device) -> dict[str, Any]:
    """‖θ_fast − θ_plain‖ / ‖θ_plain‖ of every chain's state after each epoch, the largest of all tensors.

    Without TF32, which is another arithmetic and not another trajectory.
    """
    data = images(IMAGES).to(device)
    rows = []
    with torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=False):
        for variant, make in VARIANTS.items():
            for chains in sizes.compared_chains:
                settings = make(epochs=EPOCHS, chains=chains, batch_size=BATCH_SIZE, adaptation=ADAPTATION)
                vae = conv_vae()
                plain, fast = (
                    [Chain(vae, settings, data, index, 0) for index in range(chains)] for _ in range(2)
                )
                engines = EagerEngine(plain), engine_for(fast)
                for epoch in range(1, EPOCHS + 1):
                    expected, found = (engine.run_epoch(epoch).cpu() for engine in engines)
                    rows.append(
                        {
                            "variant": variant,
                            "chains": chains,
                            "engine": type(engines[1]).__name__,
                            "steps": epoch * expected.shape[1],
                            "largest_relative_distance": _largest(map(_distances, plain, fast)),
                            "largest_relative_elbo": float(((found - expected) / expected).abs().max()),
                        }
                    )
    return {
        "settings": {
            "images": IMAGES,
            "batch_size": BATCH_SIZE,
            "epochs": EPOCHS,
            "adaptation": ADAPTATION,
            "tf32": False,
            "deterministic": True,
        },
        "trajectories": rows,
        "comparisons": [],
    }


def _distances(plain: Chain, fast: Chain) -> Tensor:
    """Of every tensor, relative to its length."""
    others = fast.tensors()
    return torch.stack(
        [
            (others[name] - tensor).double().norm() / tensor.double().norm().clamp(min=1e-12)
            for name, tensor in plain.tensors().items()
        ]
    )


def _largest(distances: Iterable[Tensor]) -> float:
    """NaN if one of them is, which Python's own max would pass over."""
    return float(torch.cat(list(distances)).max())
