"""The costly part, from a benchmark's images to matrices: train or sample, then integrate out z.

A run's matrices are cached under a name that holds everything they depend on, so that scores, presets that
share a run and repeated calls cost nothing.
"""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dissensus.bench.diagnostics import NOISE_FLOOR_INPUTS, likelihood_summary, run_diagnostics
from dissensus.bench.paper.benchmarks import Benchmark, Inputs, Sizes
from dissensus.bench.paper.presets import BenchPreset, RunName
from dissensus.bench.paper.run_result import RunResult
from dissensus.bench.progress import DECODING, TRAINING, WorkProgress
from dissensus.likelihood import log_likelihoods, noise_floor
from dissensus.models import VAE, architecture_config
from dissensus.models.inputs import unit_scale
from dissensus.posterior import WeightDraws, load_weights, sample_posterior
from dissensus.scores import ess_disagreement
from dissensus.seeding import stream_seed, torch_stream

__all__ = [
    "RunKey",
    "execute",
    "replace_pixels",
]

PICTURED_INPUTS = 8  # of each class
PICTURED_DRAWS = 5


@dataclass(frozen=True)
class RunKey:
    """Everything a run's matrices depend on."""

    benchmark: Benchmark
    run: RunName
    preset: BenchPreset
    sizes: Sizes
    seed: int

    @property
    def settings(self) -> dict[str, Any]:
        """What matters to this run, as plain values: presets that differ elsewhere share the run."""
        settings = {
            "sampling": self.preset.sampling(self.run).describe(),
            "model": architecture_config(self.preset.vae(self.benchmark.model)),
            "importance_samples": self.preset.importance_samples(self.run),
            "sizes": asdict(self.sizes),
        }
        if self.run == "background":
            settings["background_rate"] = self.benchmark.background_rate
        return settings

    @property
    def digest(self) -> str:
        """A short name of the settings."""
        text = json.dumps(self.settings, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def name(self) -> str:
        """The name of the run's files."""
        return f"{self.benchmark.name}-{self.run}-seed{self.seed}-{self.digest}"

    @property
    def work(self) -> float:
        """What the run costs, in the units of the progress bar."""
        sampling = self.preset.sampling(self.run)
        images = min(self.benchmark.training_images, self.sizes.training or self.benchmark.training_images)
        scored = 2 * self.sizes.test + self.sizes.validation + self.sizes.typical * (self.run == "vaes")
        training = sampling.chains * sampling.epochs * images * TRAINING
        decodings = sampling.draws * scored * self.preset.importance_samples(self.run)
        return (training + decodings * DECODING) * _weight(self.benchmark)


def execute(
    key: RunKey,
    inputs: Inputs,
    *,
    progress: WorkProgress | None = None,
    checkpoint: Path | None = None,
) -> RunResult:
    """Trains or samples on ``inputs.training``, on the device the images are on, and fills the matrices.

    With ``checkpoint``, a folder, an interrupted run goes on where it stopped.
    """
    device = inputs.training.device
    vae = key.preset.vae(key.benchmark.model)
    training = inputs.training
    if key.run == "background":
        generator = torch_stream(key.seed, "paper", key.benchmark.name, "perturbation", device=device)
        training = replace_pixels(training, key.benchmark.background_rate, generator)
    weight = _weight(key.benchmark)

    def advance(work: float) -> None:
        if progress is not None:
            progress.advance(work * weight)

    started = time.perf_counter()
    draws = sample_posterior(
        vae,
        training,
        key.preset.sampling(key.run),
        seed=stream_seed(key.seed, "paper", key.benchmark.name, key.run),
        held_out=inputs.validation,
        checkpoint=checkpoint,
        on_epoch=lambda reports: advance(len(reports) * len(training) * TRAINING),
    )
    trained = time.perf_counter()
    K, noise_seed = key.preset.importance_samples(key.run), stream_seed(key.seed, "paper", "scoring")
    # Typicality alone asks for likelihoods of training inputs, and only of plain VAEs.
    typical = inputs.typical if key.run == "vaes" else inputs.typical[:0]
    parts = (inputs.test, inputs.validation, typical)
    matrix = log_likelihoods(
        vae,
        draws,
        torch.cat(parts),
        samples=K,
        seed=noise_seed,
        device=device,
        on_tile=lambda pairs: advance(pairs * K * DECODING),
    )
    ends = np.cumsum([len(part) for part in parts])[:-1]
    test, validation, typical_values = np.split(matrix.values, ends, axis=1)
    pictured, pictures, reconstructions = _pictures(key, vae, draws, inputs, test)
    scored = time.perf_counter()
    info = {
        "settings": key.settings,
        "seed": key.seed,
        "draws": len(draws),
        "seconds": {"training": trained - started, "scoring": scored - trained},
        "diagnostics": {
            **run_diagnostics(draws),
            **likelihood_summary(validation),
            "importance_sampling_error": float(np.median(matrix.errors[:, : len(inputs.test)])),
            "noise_floor": noise_floor(
                vae,
                draws,
                inputs.validation[:NOISE_FLOOR_INPUTS],
                samples=K,
                seed=noise_seed,
                device=device,
            ),
        },
    }
    return RunResult(
        test=test,
        inliers=len(inputs.inliers),
        validation=validation,
        typical=typical_values,
        pictured=pictured,
        pictures=pictures,
        reconstructions=reconstructions,
        info=info,
    )


def replace_pixels(images: Tensor, rate: float, generator: torch.Generator) -> Tensor:
    """Each value, with probability ``rate``, by one of 0 to 255 at random (Ren et al. 2019): uint8 to uint8.

    The copy is made once, not anew in every epoch: the background model then sees one noise a picture.
    """
    chosen = torch.rand(images.shape, generator=generator, device=images.device) < rate
    noise = torch.randint(256, images.shape, generator=generator, device=images.device, dtype=torch.uint8)
    return torch.where(chosen, noise, images)


def _pictures(
    key: RunKey, vae: VAE, draws: WeightDraws, inputs: Inputs, test: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.uint8]]:
    """Test inputs of each class, from the least to the most disagreed on, and what draws make of them."""
    if key.run not in ("bvae1", "bvae2"):
        empty = np.empty(0, dtype=np.uint8)
        return np.empty(0, dtype=np.int64), empty, empty
    scores = ess_disagreement(test)
    n = len(inputs.inliers)
    order_in, order_out = np.argsort(scores[:n]), n + np.argsort(scores[n:])
    pictured = np.concatenate([_evenly(order, PICTURED_INPUTS) for order in (order_in, order_out)])
    x = inputs.test[torch.from_numpy(pictured).to(inputs.training.device)]
    vae = vae.to(x.device)
    reconstructions = []
    with torch.no_grad():
        for draw in _evenly(np.arange(len(draws)), PICTURED_DRAWS).tolist():
            load_weights(vae.encoder, draws.encoder_weights(int(draws.encoder_of[draw])))
            load_weights(vae.decoder, draws.decoder_weights(draw))
            mean, _ = vae.encode(unit_scale(x))
            pixels = vae.observation.mean(vae.decode(mean)).clamp(0, 1)
            reconstructions.append((pixels * 255).round().to(torch.uint8).cpu().numpy())
    return pictured, x.cpu().numpy(), np.stack(reconstructions)


def _evenly(values: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """``count`` of the values, evenly spaced from the first to the last."""
    return values[np.linspace(0, len(values) - 1, min(count, len(values))).round().astype(np.int64)]


def _weight(benchmark: Benchmark) -> float:
    """Colour images of 32×32 cost about twice what grey ones of 28×28 do."""
    return 2.0 if "svhn" in benchmark.model else 1.0
