"""The costly part, from a benchmark's images to matrices: train or sample, then integrate out z.

A run's matrices are cached under a name that holds everything they depend on, so that scores, presets that
share a run and repeated calls cost nothing.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from benchmarks.diagnostics import NOISE_FLOOR_INPUTS, likelihood_summary, run_diagnostics
from benchmarks.paper.benchmarks import Benchmark, Inputs, Sizes
from benchmarks.paper.presets import BenchPreset, RunName
from benchmarks.paper.run_result import RunResult
from benchmarks.progress import DECODING, TRAINING, WorkProgress
from dissensus.likelihood import log_likelihoods, noise_floor
from dissensus.models import VAE, architecture_config
from dissensus.models.inputs import unit_scale
from dissensus.posterior import OnEpoch, PosteriorRun, WeightDraws, load_draw, sample_together
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

    @cached_property
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
    keys: Sequence[RunKey],
    inputs: Inputs,
    *,
    progress: WorkProgress | None = None,
    checkpoint: Path | None = None,
) -> Iterator[tuple[RunKey, RunResult]]:
    """Trains or samples on ``inputs.training``, on the device the images are on, and fills the matrices.

    Several runs are sampled together and yielded one by one as their matrices are filled. With
    ``checkpoint``, a folder, an interrupted run goes on where it stopped; it belongs to one run alone.
    """
    assert checkpoint is None or len(keys) == 1
    started = time.perf_counter()
    vaes = [key.preset.vae(key.benchmark.model) for key in keys]
    every = sample_together(
        [
            PosteriorRun(
                vae,
                _training_images(key, inputs),
                key.preset.sampling(key.run),
                seed=stream_seed(key.seed, "paper", key.benchmark.name, key.run),
                held_out=inputs.validation,
                checkpoint=checkpoint,
                on_epoch=_on_epoch(key, inputs, progress),
            )
            for key, vae in zip(keys, vaes, strict=True)
        ]
    )
    training = time.perf_counter() - started
    for key, vae, draws in zip(keys, vaes, every, strict=True):
        others = [other.run for other in keys if other is not key]
        yield key, _scored(key, vae, draws, inputs, progress, training, others)


def _scored(
    key: RunKey,
    vae: VAE,
    draws: WeightDraws,
    inputs: Inputs,
    progress: WorkProgress | None,
    training_seconds: float,
    trained_with: Sequence[RunName],
) -> RunResult:
    """The matrices of a run's draws, and what else is reported of them."""
    device, weight = inputs.training.device, _weight(key.benchmark)
    started = time.perf_counter()
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
        on_tile=None if progress is None else lambda pairs: progress.advance(pairs * K * DECODING * weight),
    )
    ends = np.cumsum([len(part) for part in parts])[:-1]
    test, validation, typical_values = np.split(matrix.values, ends, axis=1)
    pictured, pictures, reconstructions = _pictures(key, vae, draws, inputs, test)
    scoring_seconds = time.perf_counter() - started
    info = {
        "settings": key.settings,
        "seed": key.seed,
        "draws": len(draws),
        "seconds": {"training": training_seconds, "scoring": scoring_seconds},
        "trained_with": list(trained_with),
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


def _training_images(key: RunKey, inputs: Inputs) -> Tensor:
    """The training set, whose pixels are perturbed for a background model."""
    if key.run != "background":
        return inputs.training
    generator = torch_stream(
        key.seed, "paper", key.benchmark.name, "perturbation", device=inputs.training.device
    )
    return replace_pixels(inputs.training, key.benchmark.background_rate, generator)


def _on_epoch(key: RunKey, inputs: Inputs, progress: WorkProgress | None) -> OnEpoch | None:
    if progress is None:
        return None
    work = len(inputs.training) * TRAINING * _weight(key.benchmark)
    return lambda reports: progress.advance(len(reports) * work)


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
            load_draw(vae, draws, draw)
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
