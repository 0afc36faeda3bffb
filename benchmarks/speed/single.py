"""Part (c): one image asked about alone, and many at once, of a detector asked thoroughly, on a CPU."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.speed.comparison import faster, more
from benchmarks.speed.sizes import Sizes
from benchmarks.speed.straightforward import score
from benchmarks.speed.subject import copied_draws, plain_default
from benchmarks.speed.timing import seconds
from dissensus.defaults import THOROUGH
from dissensus.detector import BayesianVAE
from dissensus.inputs import load_sample
from dissensus.models.inputs import to_tensor, unit_scale

__all__ = ["measure_single"]

GOAL = 0.05  # seconds
TRAINED_ON, EPOCHS = 1000, 10  # a short fit: what the weights are makes no difference to the time
BATCH = 128


def measure_single(sizes: Sizes, device: torch.device) -> dict[str, Any]:
    """Latency of ``decide`` on one image, and throughput on many, after loading a saved detector."""
    train, test = load_sample()
    gate = BayesianVAE(epochs=EPOCHS, effort=THOROUGH, device="cpu").fit(train.images[:TRAINED_ON])
    with tempfile.TemporaryDirectory() as folder:
        gate.save(Path(folder) / "gate")
        gate = BayesianVAE.load(Path(folder) / "gate", device="cpu")
    plain, draws = plain_default(), copied_draws(gate.draws_)
    shown = test.images[: max(sizes.single_rounds, BATCH)]
    pixels = unit_scale(to_tensor(shown[..., None]))

    def ours(images: Any) -> float:
        return seconds(lambda: gate.decide(images), device)

    def other(images: Any) -> float:
        return seconds(
            lambda: score(
                plain,
                draws,
                images,
                samples=gate.samples,
                batch_size=BATCH,
                device=device,
                repeat=len(images) == 1,
            ),
            device,
        )

    ours(shown[:1]), other(pixels[:1])
    single = np.array(
        [(ours(shown[n : n + 1]), other(pixels[n : n + 1])) for n in range(sizes.single_rounds)]
    )
    batch = np.array([(ours(shown[:BATCH]), other(pixels[:BATCH])) for _ in range(sizes.rounds)])
    (mine, theirs), (my_batch, their_batch) = np.median(single, axis=0), BATCH / np.median(batch, axis=0)
    name = "straightforward PyTorch"
    return {
        "settings": {
            "draws": len(gate.draws_),
            "samples": gate.samples,
            "rounds": sizes.single_rounds,
            "batch": BATCH,
        },
        "latency": {
            "median": float(mine),
            "percentile_95": float(np.quantile(single[:, 0], 0.95)),
            "every": single[:, 0].tolist(),
        },
        "images_per_second": float(my_batch),
        "comparisons": [
            faster("one image, thorough, loaded", 1e3 * mine, 1e3 * GOAL, "goal", "ms").to_dict(),
            faster("one image, thorough, loaded", 1e3 * mine, 1e3 * theirs, name, "ms").to_dict(),
            more(f"a batch of {BATCH} images, thorough", my_batch, their_batch, name, "images/s").to_dict(),
        ],
    }
