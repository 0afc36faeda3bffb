"""Part (h): how far the fast engine's chains are from the plain loop's, step for step with the same noise."""

from __future__ import annotations

from typing import Any

import torch

from dissensus.bench.speed.sizes import Sizes
from dissensus.bench.speed.subject import conv_vae, images
from dissensus.posterior import SamplingSettings
from dissensus.posterior.chain import Chain
from dissensus.posterior.engine import EagerEngine, engine_for

__all__ = ["measure_trajectory"]

IMAGES = 512
BATCH_SIZE = 64
EPOCHS = 2  # and adaptation ends after the first, so that both kinds of step are run
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
                settings = make(epochs=EPOCHS, chains=chains, batch_size=BATCH_SIZE, adaptation=1)
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
                            "largest_relative_distance": max(map(_distance, plain, fast)),
                            "largest_relative_elbo": float(((found - expected) / expected).abs().max()),
                        }
                    )
    return {
        "settings": {"images": IMAGES, "batch_size": BATCH_SIZE, "tf32": False},
        "trajectories": rows,
        "comparisons": [],
    }


def _distance(plain: Chain, fast: Chain) -> float:
    """Of the tensor that differs most, relative to its length."""
    others = fast.tensors()
    return max(
        float((others[name] - tensor).double().norm() / tensor.double().norm().clamp(min=1e-12))
        for name, tensor in plain.tensors().items()
    )
