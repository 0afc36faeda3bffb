"""Plain VAEs for the likelihood ratio: one of the images as they are, the others of perturbed images."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from benchmarks.archive import Archive
from benchmarks.paper.benchmarks import Benchmark, Inputs, Sizes, load_inputs
from benchmarks.paper.presets import BenchPreset
from benchmarks.paper.runs import replace_pixels
from benchmarks.progress import DECODING, TRAINING
from benchmarks.runner import Advance, Run
from dissensus.inputs import MADE_UP, make_up
from dissensus.likelihood import log_likelihoods
from dissensus.models import architecture_config
from dissensus.models.inputs import to_tensor
from dissensus.posterior import Adam, PosteriorRun, SamplingSettings, sample_together
from dissensus.posterior.potential import Potential
from dissensus.posterior.rules.adam import AdamState
from dissensus.seeding import stream_seed, torch_stream

__all__ = ["MADE_UP_EACH", "DecayedAdam", "Model", "RatioRun", "perfect_ratio"]

MADE_UP_EACH = 200  # validation images that outliers of each kind are made up of


@dataclass(frozen=True)
class DecayedAdam(Adam):
    """Adam on the mean loss and ½·decay·‖w‖², as Ren et al. regularise their background model."""

    weight_decay: float = 0.0

    def scale_(
        self, state: AdamState, weights: Tensor, gradient: Tensor, precision: Tensor, potential: Potential
    ) -> None:
        """To the gradient of the mean loss and the penalty."""
        super().scale_(state, weights, gradient, precision, potential)
        gradient.add_(weights, alpha=self.weight_decay)


@dataclass(frozen=True)
class Model:
    """What one VAE is trained on and how; a rate of 0 is the model of the images themselves."""

    rate: float = 0.0
    """The share of values that are replaced by noise."""
    copies: int = 1
    """Perturbed copies of the training set, each with noise of its own; seen for as many steps in all."""
    weight_decay: float = 0.0
    observation: str | None = None

    @property
    def label(self) -> str:
        """What differs from the model of the images themselves.

        >>> Model(0.2, weight_decay=0.1).label
        'rate=0.2 weight_decay=0.1'
        """
        told = {name: value for name, value in asdict(self).items() if value != getattr(Model(), name)}
        return " ".join(f"{name}={value}" for name, value in told.items()) or "unperturbed"


@dataclass(frozen=True)
class RatioRun(Run):
    """One VAE and its log-likelihoods."""

    benchmark: Benchmark
    model: Model
    preset: BenchPreset
    sizes: Sizes
    seed: int

    @property
    def label(self) -> str:
        """As in ``svhn-vs-cifar10, ratio, rate=0.15, seed 0``."""
        return f"{self.benchmark.name}, ratio, {self.model.label}, seed {self.seed}"

    @property
    def sampling(self) -> SamplingSettings:
        """One VAE, trained for as many steps whatever the number of copies."""
        learning_rate, decay = self.preset.learning_rate, self.model.weight_decay
        adam = DecayedAdam(learning_rate, weight_decay=decay) if decay else Adam(learning_rate)
        epochs = max(1, self.preset.member_epochs // self.model.copies)
        return SamplingSettings.ensemble(1, epochs, adam, batch_size=self.preset.batch_size)

    @cached_property
    def architecture(self) -> BenchPreset:
        """The preset with this model's observation model."""
        own = asdict(self.preset) | {"observation": self.model.observation or self.preset.observation}
        return BenchPreset(**own)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """All that the log-likelihoods depend on."""
        return {
            "sampling": self.sampling.describe(),
            "model": architecture_config(self.architecture.vae(self.benchmark.model)),
            "perturbation": {"rate": self.model.rate, "copies": self.model.copies},
            "importance_samples": self.preset.member_samples,
            "made_up_each": MADE_UP_EACH,
            "sizes": asdict(self.sizes),
        }

    @property
    def inputs(self) -> Hashable:
        """The images of a benchmark and seed."""
        return "ratio", self.benchmark.name, self.sizes, self.seed

    def load(self, device: torch.device) -> Inputs:
        """The images, on the device."""
        return load_inputs(self.benchmark, self.sizes, seed=self.seed, device=device)

    def together(self, device: torch.device) -> Hashable:
        """On a GPU models of one training size and one observation model."""
        own = (self.model.copies, self.model.observation)
        return self.training if device.type == "cpu" else own

    @staticmethod
    def work(runs: Sequence[RatioRun]) -> float:
        """What the runs cost, in the units of the progress bar."""
        return sum(map(_work, runs))

    @staticmethod
    def make(
        runs: Sequence[RatioRun], data: Inputs, advance: Advance, checkpoint: Path | None
    ) -> Iterator[tuple[RatioRun, Archive]]:
        """Trains all models together, and fills the matrices one by one."""
        started = time.perf_counter()
        vaes = [run.architecture.vae(run.benchmark.model) for run in runs]
        every = sample_together(
            [
                PosteriorRun(
                    vae,
                    _training_images(run, data.training),
                    run.sampling,
                    seed=stream_seed(run.seed, "paper", run.benchmark.name, "ratio"),
                    held_out=data.validation,
                    checkpoint=checkpoint,
                )
                for run, vae in zip(runs, vaes, strict=True)
            ]
        )
        training = time.perf_counter() - started
        made_up = _made_up(data.validation, runs[0].seed)
        parts = {"test": data.test, "validation": data.validation, "made_up": made_up}
        for run, vae, draws in zip(runs, vaes, every, strict=True):
            started = time.perf_counter()
            matrix = log_likelihoods(
                vae,
                draws,
                torch.cat(list(parts.values())),
                samples=run.preset.member_samples,
                seed=stream_seed(run.seed, "paper", "scoring"),
                device=data.training.device,
            )
            ends = np.cumsum([len(part) for part in parts.values()])[:-1]
            arrays = dict(zip(parts, np.split(matrix.values[0], ends), strict=True))
            arrays |= {f"perfect/{name}": perfect_ratio(part, run.model.rate) for name, part in parts.items()}
            info = {
                "inliers": len(data.inliers),
                "draws": 1,
                "seconds": {"training": training, "scoring": time.perf_counter() - started},
                "diagnostics": {"validation_log_likelihood": float(arrays["validation"].mean())},
            }
            advance(_work(run))
            yield run, Archive(arrays, info)


def perfect_ratio(images: Tensor, rate: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    r"""The ratio (N,) that two perfect Bernoulli models would give uint8 images, by their pixels alone.

    A model of the images that reconstructs them says x of a pixel x; one of the perturbed images says
    :math:`(1 - \mu) x + \mu / 2`, the mean of what it has seen. The log-likelihoods differ by

    .. math:: \sum_i \mathrm{KL}\big(\mathrm{Bern}(x_i) \,\|\, \mathrm{Bern}((1 - \mu) x_i + \mu / 2)\big),

    most for black and white and nothing for grey: it is large for pictures of high contrast, whatever they
    show.
    """
    x = images.flatten(1).to(torch.float32) / 255
    shrunk = (1 - rate) * x + rate / 2
    nats = torch.special.xlogy(x, x) - torch.special.xlogy(x, shrunk)
    nats = nats + torch.special.xlogy(1 - x, 1 - x) - torch.special.xlogy(1 - x, 1 - shrunk)
    found: np.ndarray[Any, np.dtype[np.float64]] = nats.double().sum(1).cpu().numpy()
    return found


def _training_images(run: RatioRun, images: Tensor) -> Tensor:
    if not run.model.rate:
        return images
    generator = torch_stream(run.seed, "paper", run.benchmark.name, "perturbation", device=images.device)
    return torch.cat([replace_pixels(images, run.model.rate, generator) for _ in range(run.model.copies)])


def _made_up(validation: Tensor, seed: int) -> Tensor:
    """Outliers of every kind, one kind after the other, made up of the first validation images."""
    images = validation[:MADE_UP_EACH].permute(0, 2, 3, 1).cpu().numpy()
    images = np.ascontiguousarray(images[..., 0] if images.shape[-1] == 1 else images)
    made = np.concatenate([make_up(kind, images, seed) for kind in MADE_UP])
    return to_tensor(made).to(validation.device)


def _work(run: RatioRun) -> float:
    images = min(run.benchmark.training_images, run.sizes.training or run.benchmark.training_images)
    scored = 2 * run.sizes.test + run.sizes.validation + len(MADE_UP) * MADE_UP_EACH
    return images * run.preset.member_epochs * TRAINING + scored * run.preset.member_samples * DECODING
