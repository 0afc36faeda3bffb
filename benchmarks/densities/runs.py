"""The costly part: what trained densities say of every picture, and what pictures say themselves."""

from __future__ import annotations

import hashlib
import math
import sys
import time
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from benchmarks.archive import Archive
from benchmarks.baselines.detectors import NearestNeighbour
from benchmarks.densities.candidates import FLOW, SIZES, Setup, make_candidate
from benchmarks.panel.inputs import Inputs, Purpose, load_inputs
from benchmarks.panel.sets import InlierSet
from benchmarks.progress import DECODING, TRAINING
from benchmarks.runner import Advance, Run
from dissensus.likelihood import input_statistics, log_likelihoods, one_look
from dissensus.models import GenerativeModel
from dissensus.posterior import (
    EpochReport,
    PosteriorRun,
    WeightDraws,
    posterior_settings,
    sample_together,
)
from dissensus.seeding import torch_stream

__all__ = ["NEAREST", "NO_MODEL", "DensityRun", "PicturesRun", "as_rows", "called"]

FloatArray = NDArray[np.float64]

NO_MODEL = "no-model"
NEAREST = "nearest neighbour"
COST: Mapping[str, float] = {"small-vae": 1.0, "deep-vae": 2.0, "autoregressive": 6.0, FLOW: 1.5}
"""Of a picture, relative to the others'."""
TOLD_EVERY = 5  # epochs


class Pictures:
    """The inputs of runs on one device, each read once."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self._read: dict[Hashable, Inputs] = {}

    def of(self, run: _OfPictures) -> Inputs:
        """All pictures of a run."""
        key = (run.inliers.name, run.size, run.purpose, run.seed)
        if key not in self._read:
            self._read[key] = run.read(self.device)
        return self._read[key]


@dataclass(frozen=True)
class _OfPictures(Run):
    """Which pictures there are."""

    inliers: InlierSet
    size: str
    purpose: Purpose
    seed: int

    @property
    def inputs(self) -> Hashable:
        """All runs share one store of pictures."""
        return "pictures"

    def load(self, device: torch.device) -> Pictures:
        """A store that reads what it is asked for."""
        return Pictures(device)

    def read(self, device: torch.device) -> Inputs:
        """All pictures, of half the sides where the size says so."""
        found = load_inputs(
            self.inliers, SIZES[self.size], seed=self.seed, purpose=self.purpose, device=device
        )
        if not self.halved:
            return found
        return replace(found, training=_halved(found.training), scored=_halved(found.scored))

    @property
    def halved(self) -> bool:
        """Whether pictures have half their sides."""
        return self.size == "small"

    @property
    def pictures(self) -> dict[str, Any]:
        """What they depend on, as plain values."""
        sizes = SIZES[self.size]
        return {"purpose": self.purpose, "sizes": sizes.described(self.purpose), "weighed_by": sizes.made_up}

    def _left(self, inputs: Inputs) -> dict[str, Any]:
        """What every archive says of the pictures it is of."""
        return {
            "sections": {name: [part.start, part.stop] for name, part in inputs.sections.items()},
            "pictures": hashlib.sha256(inputs.scored.cpu().numpy().tobytes()).hexdigest()[:16],
        }


@dataclass(frozen=True)
class PicturesRun(_OfPictures):
    """What needs no density: the statistics of pictures, and the distance to the nearest training picture."""

    @property
    def label(self) -> str:
        """As in ``svhn, no-model, full, seed 0``."""
        return f"{self.inliers.name}, {NO_MODEL}, {self.size}, seed {self.seed}"

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Which pictures there are, and how near ones are told."""
        return {**self.pictures, "distances": "roots of differences, not whitened"}

    @staticmethod
    def work(runs: Sequence[PicturesRun]) -> float:
        """As much as a small training."""
        return len(runs) * 1e5 * TRAINING

    @staticmethod
    def make(
        runs: Sequence[PicturesRun],
        data: Pictures,
        advance: Advance,  # noqa: ARG004 there are no steps to tell of
        checkpoint: Path | None,  # noqa: ARG004
    ) -> Iterator[tuple[PicturesRun, Archive]]:
        """``statistic/…`` (N,) by name, the nearest neighbour's distance among them."""
        for run in runs:
            inputs, started = data.of(run), time.perf_counter()
            near = NearestNeighbour().fit(_channels_last(inputs.training), seed=run.seed)
            found = {**inputs.image_statistics, NEAREST: near(_channels_last(inputs.scored))}
            arrays = {f"statistic/{name}": values.astype(np.float32) for name, values in found.items()}
            seconds = {"statistics": time.perf_counter() - started}
            yield run, Archive(arrays, {**run._left(inputs), "seconds": seconds})


@dataclass(frozen=True)
class DensityRun(_OfPictures):
    """An ensemble of one density."""

    own: Setup = field(default_factory=dict)

    @property
    def called(self) -> str:
        """Which density."""
        return str(self.own["candidate"])

    @property
    def label(self) -> str:
        """As in ``svhn, flow, full, seed 0``."""
        return f"{self.inliers.name}, {self.called}, {self.size}, seed {self.seed}"

    @cached_property
    def settings(self) -> dict[str, Any]:
        """How it is made and trained, and which pictures there are."""
        return {**self.own, **self.pictures}

    def together(self, device: torch.device) -> Hashable:
        """On a GPU, the same density of other pictures: their chains fill it better."""
        return self.training if device.type == "cpu" else (self.called, self.purpose, self.seed)

    def resumes(self, device: torch.device) -> bool:
        """Whether an interrupted training goes on: on a GPU only where it is long, and its state small."""
        return device.type == "cpu" or self.called == "autoregressive"

    @staticmethod
    def work(runs: Sequence[DensityRun]) -> float:
        """What the trainings cost, and the scoring."""
        return sum(run._training_work + run._asking_work for run in runs)

    @property
    def _training_work(self) -> float:
        pictures = SIZES[self.size].training or 0
        members, epochs = int(self.own["members"]), int(self.own["epochs"])
        return members * epochs * pictures * TRAINING * COST[self.called]

    @property
    def _asking_work(self) -> float:
        pictures = SIZES[self.size].scored(self.inliers, self.purpose)
        return int(self.own["members"]) * pictures * DECODING * COST[self.called]

    @staticmethod
    def make(
        runs: Sequence[DensityRun], data: Pictures, advance: Advance, checkpoint: Path | None
    ) -> Iterator[tuple[DensityRun, Archive]]:
        """All trainings together, then one after the other is asked.

        Left are what the draws' log-likelihoods differ by from their mean, ``matrix`` (M, N) in nats, that
        ``mean`` (N,), and ``statistic/…`` (N,) of the draws.
        """
        started = time.perf_counter()
        begun = [_Begun(run, data.of(run)) for run in runs]
        trained = sample_together([each.posterior(advance, checkpoint) for each in begun])
        seconds = time.perf_counter() - started
        for each, draws in zip(begun, trained, strict=True):
            others = [other.label for other in runs if other is not each.run]
            yield each.run, each.asked(draws, seconds, others)
            advance(each.run._asking_work)


def called(run: Run) -> str:
    """What a command calls a run: its density, or that there is none."""
    return run.called if isinstance(run, DensityRun) else NO_MODEL


class _Begun:
    """A run with its pictures, as its density reads them."""

    def __init__(self, run: DensityRun, inputs: Inputs) -> None:
        self.run, self.inputs = run, inputs
        shape = tuple(inputs.training.shape[1:])
        self.dimensions = math.prod(shape)
        self.model: GenerativeModel = make_candidate(run.own, shape, run.seed)
        self.training, self.scored, self.offset = inputs.training, inputs.scored, 0.0
        if run.called == FLOW:
            self.training, self.scored, self.offset = as_rows(self.training, self.scored, run.seed)
        self.began = time.perf_counter()

    def posterior(self, advance: Advance, checkpoint: Path | None) -> PosteriorRun:
        own = self.run.own
        return PosteriorRun(
            self.model,
            self.training,
            posterior_settings(
                "ensemble",
                epochs=own["epochs"],
                draws=own["members"],
                chains=own["members"],
                batch_size=own["batch_size"],
                learning_rate=own["learning_rate"],
            ),
            seed=self.run.seed,
            checkpoint=None if checkpoint is None else checkpoint / self.run.training,
            on_epoch=partial(self._told, advance),
        )

    def _told(self, advance: Advance, reports: Sequence[EpochReport]) -> None:
        epoch, every = reports[0].epoch, self.run.own["epochs"]
        advance(self.run._training_work / every)
        if epoch % TOLD_EVERY == 1 or epoch == every:
            took = time.perf_counter() - self.began
            nats = sum(report.training_elbo for report in reports) / len(reports) + self.offset
            bits = -nats / self.dimensions / math.log(2)
            said = f"{self.run.label}: epoch {epoch} of {every}, {took:.1f} s, {bits:.3f} bits"
            sys.stderr.write(said + "\n")

    def asked(self, draws: WeightDraws, training_seconds: float, trained_with: Sequence[str]) -> Archive:
        """What the draws say of all pictures."""
        started, device = time.perf_counter(), self.inputs.scored.device
        model = self.model
        if model.observes_likelihood and not model.noise_size:
            matrix, statistics = one_look(model, draws, self.scored, device=device)
        else:
            samples, seed = self.run.own["samples"], self.run.seed
            matrix = log_likelihoods(
                model, draws, self.scored, samples=samples, seed=seed, device=device
            ).values
            every = {*model.observed, *model.further}
            statistics = input_statistics(model, draws, self.scored, only=every, device=device)
        matrix = matrix + self.offset
        mean = matrix.mean(0)
        arrays = {"mean": mean, "matrix": (matrix - mean).astype(np.float32)}
        arrays |= {f"statistic/{name}": values.astype(np.float32) for name, values in statistics.items()}
        info = {
            **self.run._left(self.inputs),
            "draws": len(draws),
            "seconds": {"training": training_seconds, "asking": time.perf_counter() - started},
            "trained_with": list(trained_with),
            "weights": sum(p.numel() for p in model.parameters()),
            "dimensions": self.dimensions,
            "exact": not model.noise_size,
        }
        return Archive(arrays, info)


def _channels_last(images: Tensor) -> NDArray[np.uint8]:
    return np.ascontiguousarray(images.permute(0, 2, 3, 1).cpu().numpy())


def _halved(images: Tensor) -> Tensor:
    """Pictures of half the sides, each pixel the rounded mean of four."""
    return functional.avg_pool2d(images.float(), 2).round().to(torch.uint8)


def as_rows(training: Tensor, scored: Tensor, seed: int) -> tuple[Tensor, Tensor, float]:
    """Pixels plus uniform noise, standardised, and what turns their log density into that of grey levels.

    The expected log density of x + u bounds log P(x) from below (Theis et al., 2016).
    """
    rows = []
    for part, images in (("training", training), ("scored", scored)):
        noise = torch.rand(images.shape, generator=torch_stream(seed, "densities", "dequantised", part))
        rows.append((images.float() + noise.to(images.device)).flatten(1))
    mean, scale = rows[0].mean(0), rows[0].std(0).clamp(min=1)
    first, second = ((part - mean) / scale for part in rows)
    return first, second, -float(scale.double().log().sum())
