"""The costly part: every image meets every draw once, for all outliers and scores."""

from __future__ import annotations

import copy
import time
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from benchmarks.archive import Archive
from benchmarks.diagnostics import NOISE_FLOOR_INPUTS, likelihood_summary, run_diagnostics
from benchmarks.panel.configuration import Configuration
from benchmarks.panel.inputs import Inputs, Purpose, Sizes, load_inputs
from benchmarks.panel.sets import InlierSet
from benchmarks.progress import DECODING, TRAINING
from benchmarks.records import digest
from benchmarks.runner import Advance, Run
from dissensus.inputs.pictures import MOST_PICTURES
from dissensus.likelihood import input_statistics, log_likelihoods, noise_floor
from dissensus.models import VAE, architecture_config
from dissensus.models.vae import likelihood_regret
from dissensus.posterior import (
    EpochReport,
    PosteriorRun,
    SamplingSettings,
    WeightDraws,
    load_draw,
    sample_together,
)
from dissensus.seeding import stream_seed

__all__ = ["PanelRun"]

COLOUR_COST = 2.0  # of an image of 32×32×3, relative to one of 28×28


@dataclass(frozen=True)
class PanelRun(Run):
    """Everything a run's numbers depend on."""

    inliers: InlierSet
    configuration: Configuration
    sizes: Sizes
    seed: int
    purpose: Purpose = "test"

    @property
    def sampling(self) -> SamplingSettings:
        """How the weights are made."""
        return self.configuration.sampling(self.sizes.training_size(self.inliers, self.purpose))

    @property
    def label(self) -> str:
        """As in ``mnist, sghmc-variant-2, seed 0``."""
        variant = "" if self.configuration.variant == 1 else f"-variant-{self.configuration.variant}"
        return f"{self.inliers.name}, {self.configuration.posterior}{variant}, seed {self.seed}"

    @cached_property
    def settings(self) -> dict[str, Any]:
        """As plain values."""
        chosen = self.configuration.settings
        # Of the detector's own and no arguments: other ones are another measurement.
        kept = {
            "pictures_kept": MOST_PICTURES,
            "distances": "roots of differences, not whitened",
            "weighed_by": self.sizes.made_up,
        }
        return {"configuration": chosen, **self._trained_with, "purpose": self.purpose, **kept}

    @property
    def _trained_with(self) -> dict[str, Any]:
        return {
            "sampling": self.sampling.describe(),
            "model": architecture_config(self.configuration.vae(self.inliers.shape)),
            "sizes": self.sizes.described(self.purpose),
        }

    @cached_property
    def training(self) -> str:
        """Those that differ in which draws are used, or in the importance samples, share one."""
        return f"{self.inliers.name}-{self.purpose}-seed-{self.seed}-{digest(self._trained_with)}"

    @property
    def inputs(self) -> Hashable:
        """The images of a set and seed."""
        return self.inliers.name, self.sizes, self.seed, self.purpose

    def load(self, device: torch.device) -> Inputs:
        """The images, on the device."""
        return load_inputs(self.inliers, self.sizes, seed=self.seed, purpose=self.purpose, device=device)

    def together(self, device: torch.device) -> Hashable:
        """On a GPU trainings of as many epochs and the same batches, whose chains fill it better."""
        return self.training if device.type == "cpu" else (self.sampling.epochs, self.sampling.batch_size)

    @property
    def weight(self) -> float:
        """What an image costs."""
        return COLOUR_COST if self.inliers.colour else 1.0

    @staticmethod
    def work(runs: Sequence[PanelRun]) -> float:
        """What the trainings and the matrices cost, in the units of the progress bar."""
        trainings = {run.training: run for run in runs}
        matrices = {(run.training, run.configuration.scoring): run for run in runs}
        return sum(map(_training_work, trainings.values())) + sum(map(_scoring_work, matrices.values()))

    @staticmethod
    def make(
        runs: Sequence[PanelRun], data: Inputs, advance: Advance, checkpoint: Path | None
    ) -> Iterator[tuple[PanelRun, Archive]]:
        """All trainings together, then the matrices and statistics of one after the other."""
        groups: dict[str, list[PanelRun]] = {}
        for run in runs:
            groups.setdefault(run.training, []).append(run)
        started = time.perf_counter()
        every = sample_together([_begun(own[0], data, advance, checkpoint) for own in groups.values()])
        seconds = time.perf_counter() - started
        for own, draws in zip(groups.values(), every, strict=True):
            others = [other[0].label for other in groups.values() if other is not own]
            yield from _scored(own, draws, data, advance, checkpoint, seconds, others)


def _begun(run: PanelRun, data: Inputs, advance: Advance, checkpoint: Path | None) -> PosteriorRun:
    return PosteriorRun(
        run.configuration.vae(run.inliers.shape),
        data.training,
        run.sampling,
        seed=stream_seed(run.seed, "panel", run.inliers.name),
        held_out=data.scored[data.sections["fitting"]],
        checkpoint=None if checkpoint is None else checkpoint / "training",
        on_epoch=partial(_on_epoch, run, len(data.training), advance),
    )


def _scored(
    runs: Sequence[PanelRun],
    draws: WeightDraws,
    data: Inputs,
    advance: Advance,
    checkpoint: Path | None,
    training_seconds: float,
    trained_with: Sequence[str],
) -> Iterator[tuple[PanelRun, Archive]]:
    """What runs that share one training make of its draws.

    A matrix is made once for each number and noise of importance samples; runs that use fewer draws take
    rows of it. Left are the ``matrix`` (M, N) in nats, ``statistic/…`` (N,) of the draws and of the images
    without a model, and ``regret`` (N,), NaN where it was not found and empty where it was not asked for.
    """
    first, device = runs[0], data.training.device
    vae = first.configuration.vae(first.inliers.shape)
    clock, seconds, watched = _Clock(), {"training": training_seconds}, run_diagnostics(draws)
    regret = _regret(vae, draws, data, first.sizes.regret, seed=first.seed)
    without_model = data.image_statistics
    seconds["regret and image statistics"] = clock.lap()
    matrices: dict[tuple[int, str], tuple[NDArray[np.float64], dict[str, float | None]]] = {}
    statistics: dict[tuple[int, ...], dict[str, NDArray[np.float64]]] = {}  # by the draws they are of
    for run in runs:
        scoring = run.configuration.scoring
        if scoring not in matrices:
            matrices[scoring] = _matrix(run, vae, draws, data, advance, checkpoint)
            seconds["matrix"] = clock.lap()
        matrix, errors = matrices[scoring]
        rows = run.configuration.used(draws.chain)
        if (used := tuple(rows.tolist())) not in statistics:
            statistics[used] = input_statistics(vae, draws.select(rows), data.scored, device=device)
            seconds["statistics"] = clock.lap()
        info = {
            "sections": {name: [part.start, part.stop] for name, part in data.sections.items()},
            "draws": len(rows),
            "seconds": dict(seconds),
            "trained_with": list(trained_with),
            "diagnostics": {
                **watched,
                **likelihood_summary(matrix[rows][:, data.sections["fitting"]]),
                **errors,
            },
        }
        found = {f"statistic/{name}": each for name, each in {**statistics[used], **without_model}.items()}
        yield run, Archive({"matrix": matrix[rows], "regret": regret, **found}, info)


def _training_work(run: PanelRun) -> float:
    images = run.sizes.training_size(run.inliers, run.purpose)
    return run.sampling.chains * run.sampling.epochs * images * TRAINING * run.weight


def _scoring_work(run: PanelRun) -> float:
    images = run.sizes.scored(run.inliers, run.purpose)
    return run.sampling.draws * images * run.configuration.samples * DECODING * run.weight


def _on_epoch(run: PanelRun, images: int, advance: Advance, reports: Sequence[EpochReport]) -> None:
    advance(len(reports) * images * TRAINING * run.weight)


def _matrix(
    run: PanelRun,
    vae: VAE,
    draws: WeightDraws,
    inputs: Inputs,
    advance: Advance,
    checkpoint: Path | None,
) -> tuple[NDArray[np.float64], dict[str, float | None]]:
    """The matrix (M, N) of all draws and images, and how well it is known, in nats."""
    K, fresh = run.configuration.samples, run.configuration.noise == "fresh"
    seed, device = stream_seed(run.seed, "panel", "scoring"), inputs.training.device

    def on_tile(pairs: int) -> None:
        advance(pairs * K * DECODING * run.weight)

    def scored(own: WeightDraws, seed: int, folder: Path | None) -> tuple[NDArray[np.float64], ...]:
        found = log_likelihoods(
            vae, own, inputs.scored, samples=K, seed=seed, device=device, checkpoint=folder, on_tile=on_tile
        )
        return found.values, found.errors

    if fresh:
        one_by_one = [
            scored(draws.select(np.array([m])), stream_seed(seed, "draw", m), None) for m in range(len(draws))
        ]
        values, errors = (np.concatenate(parts) for parts in zip(*one_by_one, strict=True))
    else:
        folder = None if checkpoint is None else checkpoint / f"matrix-{K}"
        values, errors = scored(draws, seed, folder)
    few = inputs.scored[inputs.sections["fitting"]][:NOISE_FLOOR_INPUTS]
    return values, {
        "importance_sampling_error": float(np.median(errors)) if K > 1 else None,
        "noise_floor": noise_floor(vae, draws, few, samples=K, seed=seed, device=device),
    }


def _regret(vae: VAE, draws: WeightDraws, inputs: Inputs, count: int, *, seed: int) -> NDArray[np.float64]:
    """Likelihood regret under the last draw of the first images of every section: (N,), NaN elsewhere."""
    if not count:
        return np.empty(0)
    vae, last = copy.deepcopy(vae), len(draws) - 1
    load_draw(vae, draws, last)
    starts = [np.arange(part.start, min(part.stop, part.start + count)) for part in inputs.sections.values()]
    rows = np.concatenate(starts)
    few: Tensor = inputs.scored[torch.from_numpy(rows).to(inputs.scored.device)]
    regret = np.full(len(inputs.scored), np.nan)
    regret[rows] = likelihood_regret(vae, few, seed=seed, device=few.device)
    return regret


class _Clock:
    """Seconds between one lap and the next."""

    def __init__(self) -> None:
        self._last = time.perf_counter()

    def lap(self) -> float:
        now = time.perf_counter()
        self._last, passed = now, now - self._last
        return passed
