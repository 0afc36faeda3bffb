"""The costly part, from a benchmark's images to matrices: train or sample, then integrate out z."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from benchmarks.archive import Archive
from benchmarks.diagnostics import NOISE_FLOOR_INPUTS, likelihood_summary, run_diagnostics
from benchmarks.paper.benchmarks import Benchmark, Inputs, Purpose, Sizes, load_inputs
from benchmarks.paper.presets import BenchPreset, RunName
from benchmarks.progress import DECODING, TRAINING
from benchmarks.runner import Advance, Run
from dissensus.likelihood import log_likelihoods, noise_floor
from dissensus.models import VAE, architecture_config
from dissensus.models.inputs import unit_scale
from dissensus.posterior import EpochReport, PosteriorRun, WeightDraws, load_draw, sample_together
from dissensus.scores import ess_disagreement
from dissensus.seeding import stream_seed, torch_stream

__all__ = ["PaperRun", "replace_pixels"]

PICTURED_INPUTS = 8  # of each class
PICTURED_DRAWS = 5


@dataclass(frozen=True)
class PaperRun(Run):
    """Everything a run's matrices depend on."""

    benchmark: Benchmark
    run: RunName
    preset: BenchPreset
    sizes: Sizes
    seed: int
    purpose: Purpose = "test"

    @property
    def label(self) -> str:
        """Plain VAEs are the same in every preset."""
        preset = [self.preset.name] if self.run in ("bvae1", "bvae2") else []
        return ", ".join([self.benchmark.name, self.run, *preset, f"seed {self.seed}"])

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
        return settings if self.purpose == "test" else {**settings, "purpose": self.purpose}

    @property
    def inputs(self) -> Hashable:
        """The images of a benchmark and seed."""
        return self.benchmark.name, self.sizes, self.seed, self.purpose

    def load(self, device: torch.device) -> Inputs:
        """The images, on the device."""
        return load_inputs(self.benchmark, self.sizes, seed=self.seed, purpose=self.purpose, device=device)

    def together(self, device: torch.device) -> Hashable:
        """On a GPU runs of as many epochs, whose chains fill it better."""
        return self.training if device.type == "cpu" else self.preset.sampling(self.run).epochs

    @staticmethod
    def work(runs: Sequence[PaperRun]) -> float:
        """What the runs cost, in the units of the progress bar."""
        return sum(map(_work, runs))

    @staticmethod
    def make(
        runs: Sequence[PaperRun], data: Inputs, advance: Advance, checkpoint: Path | None
    ) -> Iterator[tuple[PaperRun, Archive]]:
        """Trains or samples on the training images, all runs together, and fills the matrices one by one."""
        started = time.perf_counter()
        vaes = [run.preset.vae(run.benchmark.model) for run in runs]
        every = sample_together(
            [
                PosteriorRun(
                    vae,
                    _training_images(run, data),
                    run.preset.sampling(run.run),
                    seed=stream_seed(run.seed, "paper", run.benchmark.name, run.run),
                    held_out=data.validation,
                    checkpoint=checkpoint,
                    on_epoch=partial(_on_epoch, run, len(data.training), advance),
                )
                for run, vae in zip(runs, vaes, strict=True)
            ]
        )
        training = time.perf_counter() - started
        for run, vae, draws in zip(runs, vaes, every, strict=True):
            others = [other.run for other in runs if other is not run]
            yield run, _scored(run, vae, draws, data, advance, training, others)


def _scored(
    run: PaperRun,
    vae: VAE,
    draws: WeightDraws,
    inputs: Inputs,
    advance: Advance,
    training_seconds: float,
    trained_with: Sequence[RunName],
) -> Archive:
    """The matrices of a run's draws, and what else is reported of them.

    Log-likelihoods are in nats: ``test`` (M, N), the in-distribution inputs first, ``validation`` and
    ``typical`` (M, n). ``pictured`` (n,) are columns of ``test`` in the order of disagreement, inliers first,
    with their ``pictures`` (n, C, H, W) and ``reconstructions`` under some draws (m, n, C, H, W).
    """
    device, weight = inputs.training.device, _weight(run.benchmark)
    started = time.perf_counter()
    K, noise_seed = run.preset.importance_samples(run.run), stream_seed(run.seed, "paper", "scoring")
    # Typicality alone asks for likelihoods of training inputs, and only of plain VAEs.
    typical = inputs.typical if run.run == "vaes" else inputs.typical[:0]
    parts = (inputs.test, inputs.validation, typical)
    matrix = log_likelihoods(
        vae,
        draws,
        torch.cat(parts),
        samples=K,
        seed=noise_seed,
        device=device,
        on_tile=lambda pairs: advance(pairs * K * DECODING * weight),
    )
    ends = np.cumsum([len(part) for part in parts])[:-1]
    test, validation, typical_values = np.split(matrix.values, ends, axis=1)
    few = inputs.validation[:NOISE_FLOOR_INPUTS]
    diagnostics = {
        **run_diagnostics(draws),
        **likelihood_summary(validation),
        "importance_sampling_error": float(np.median(matrix.errors[:, : len(inputs.test) or None])),
        "noise_floor": noise_floor(vae, draws, few, samples=K, seed=noise_seed, device=device),
        "spread_over_draws": float(validation.std(axis=0).mean()),
    }
    arrays = {"test": test, "validation": validation, "typical": typical_values}
    if run.run in ("bvae1", "bvae2") and len(inputs.test):
        arrays |= _pictures(vae, draws, inputs, test)
    return Archive(
        arrays,
        {
            "inliers": len(inputs.inliers),
            "draws": len(draws),
            "seconds": {"training": training_seconds, "scoring": time.perf_counter() - started},
            "trained_with": list(trained_with),
            "diagnostics": diagnostics,
        },
    )


def _work(run: PaperRun) -> float:
    sampling, sizes = run.preset.sampling(run.run), run.sizes
    images = min(run.benchmark.training_images, sizes.training or run.benchmark.training_images)
    tested = 2 * sizes.test * (run.purpose == "test")
    scored = tested + sizes.validation + sizes.typical * (run.run == "vaes")
    training = sampling.chains * sampling.epochs * images * TRAINING
    decodings = sampling.draws * scored * run.preset.importance_samples(run.run)
    return (training + decodings * DECODING) * _weight(run.benchmark)


def _training_images(run: PaperRun, inputs: Inputs) -> Tensor:
    """The training set, whose pixels are perturbed for a background model."""
    if run.run != "background":
        return inputs.training
    generator = torch_stream(
        run.seed, "paper", run.benchmark.name, "perturbation", device=inputs.training.device
    )
    return replace_pixels(inputs.training, run.benchmark.background_rate, generator)


def _on_epoch(run: PaperRun, images: int, advance: Advance, reports: Sequence[EpochReport]) -> None:
    advance(len(reports) * images * TRAINING * _weight(run.benchmark))


def replace_pixels(images: Tensor, rate: float, generator: torch.Generator) -> Tensor:
    """Each value, with probability ``rate``, by one of 0 to 255 at random (Ren et al. 2019): uint8 to uint8.

    The copy is made once, not anew in every epoch: the background model then sees one noise a picture.
    """
    chosen = torch.rand(images.shape, generator=generator, device=images.device) < rate
    noise = torch.randint(256, images.shape, generator=generator, device=images.device, dtype=torch.uint8)
    return torch.where(chosen, noise, images)


def _pictures(
    vae: VAE, draws: WeightDraws, inputs: Inputs, test: NDArray[np.float64]
) -> dict[str, NDArray[Any]]:
    """Test inputs of each class, from the least to the most disagreed on, and what draws make of them."""
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
    return {
        "pictured": pictured,
        "pictures": x.cpu().numpy(),
        "reconstructions": np.stack(reconstructions),
    }


def _evenly(values: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """``count`` of the values, evenly spaced from the first to the last."""
    return values[np.linspace(0, len(values) - 1, min(count, len(values))).round().astype(np.int64)]


def _weight(benchmark: Benchmark) -> float:
    """Colour images of 32×32 cost about twice what grey ones of 28×28 do."""
    return 2.0 if "svhn" in benchmark.model else 1.0
