"""Draws trained without two clusters, and what they say of inputs for several K and numbers of draws."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.archive import Archive
from benchmarks.diagnostics import run_diagnostics
from benchmarks.paper.benchmarks import Inputs, Sizes
from benchmarks.paper.clusters import load_clusters
from benchmarks.paper.presets import BenchPreset, RunName
from benchmarks.progress import DECODING, TRAINING
from benchmarks.runner import Advance, Run
from dissensus.likelihood import log_likelihoods
from dissensus.models import VAE, architecture_config
from dissensus.posterior import EpochReport, PosteriorRun, WeightDraws, sample_together
from dissensus.seeding import stream_seed

__all__ = ["MODEL", "RUN", "ClusterRun", "first_draws"]

MODEL = "paper-fashion-mnist"
RUN: RunName = "bvae1"  # the variant that the paper has the higher number for on held-out classes
IMAGES = 50_000  # to train on, about, to foretell how long it takes


@dataclass(frozen=True)
class ClusterRun(Run):
    """One training without two clusters; the preset's ``samples`` do not count."""

    candidate: str
    left_out: tuple[int, int]
    preset: BenchPreset
    scored: tuple[tuple[int, int], ...]
    """K, and how many draws a chain has in the matrix of that K."""
    sizes: Sizes
    seed: int

    @property
    def label(self) -> str:
        """As in ``clusters 01, latent_size=10, seed 0``."""
        return f"clusters {''.join(map(str, self.left_out))}, {self.candidate}, seed {self.seed}"

    @cached_property
    def settings(self) -> dict[str, Any]:
        """All that the matrices depend on."""
        return {
            "sampling": self.preset.sampling(RUN).describe(),
            "model": architecture_config(self.preset.vae(MODEL)),
            "scored": [list(each) for each in self.scored],
            "sizes": asdict(self.sizes),
            "left_out": list(self.left_out),
        }

    @property
    def inputs(self) -> Hashable:
        """The images without two clusters."""
        return "clusters", self.left_out, self.sizes, self.seed

    def load(self, device: torch.device) -> Inputs:
        """The images, on the device."""
        return load_clusters(self.left_out, self.sizes, seed=self.seed, device=device)

    def together(self, device: torch.device) -> Hashable:
        """On a GPU runs of as many epochs, whose chains fill it better."""
        return self.training if device.type == "cpu" else self.preset.sampling(RUN).epochs

    @staticmethod
    def work(runs: Sequence[ClusterRun]) -> float:
        """What the runs cost, in the units of the progress bar."""
        return sum(map(_work, runs))

    @staticmethod
    def make(
        runs: Sequence[ClusterRun], data: Inputs, advance: Advance, checkpoint: Path | None
    ) -> Iterator[tuple[ClusterRun, Archive]]:
        """Samples all runs together, and fills the matrices one by one."""
        started, images = time.perf_counter(), len(data.training)

        def on_epoch(reports: Sequence[EpochReport]) -> None:
            advance(len(reports) * images * TRAINING)

        vaes = [run.preset.vae(MODEL) for run in runs]
        every = sample_together(
            [
                PosteriorRun(
                    vae,
                    data.training,
                    run.preset.sampling(RUN),
                    seed=stream_seed(run.seed, "paper", "clusters", *run.left_out),
                    held_out=data.validation,
                    checkpoint=checkpoint,
                    on_epoch=on_epoch,
                )
                for run, vae in zip(runs, vaes, strict=True)
            ]
        )
        training = time.perf_counter() - started
        for run, vae, draws in zip(runs, vaes, every, strict=True):
            yield run, _scored(run, vae, draws, data, advance, training)


def first_draws(chain: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Which draws are among the first ``count`` of their chain: those that a shorter run would have.

    >>> first_draws(np.array([0, 0, 0, 1, 1, 1]), 2)
    array([0, 1, 3, 4])
    """
    place = np.arange(len(chain)) - np.searchsorted(chain, chain)
    return np.flatnonzero(place < count)


def _scored(
    run: ClusterRun, vae: VAE, draws: WeightDraws, inputs: Inputs, advance: Advance, training_seconds: float
) -> Archive:
    """Log-likelihoods (M, N) of the test inputs for each K, with the chain (M,) of each of their draws."""
    started = time.perf_counter()
    arrays: dict[str, NDArray[Any]] = {}
    for samples, count in run.scored:
        kept = draws.select(first_draws(draws.chain, count))
        matrix = log_likelihoods(
            vae,
            kept,
            inputs.test,
            samples=samples,
            seed=stream_seed(run.seed, "paper", "scoring"),
            device=inputs.training.device,
            on_tile=lambda pairs, samples=samples: advance(pairs * samples * DECODING),  # type: ignore[misc]
        )
        arrays |= {f"matrix/{samples}": matrix.values, f"chain/{samples}": kept.chain}
    info: Mapping[str, Any] = {
        "inliers": len(inputs.inliers),
        "trained_on": len(inputs.training),
        "draws": len(draws),
        "seconds": {"training": training_seconds, "scoring": time.perf_counter() - started},
        "diagnostics": run_diagnostics(draws),
    }
    return Archive(arrays, info)


def _work(run: ClusterRun) -> float:
    sampling = run.preset.sampling(RUN)
    images = min(IMAGES, run.sizes.training or IMAGES)
    decodings = sum(K * count for K, count in run.scored) * sampling.chains * 2 * run.sizes.test
    return sampling.chains * sampling.epochs * images * TRAINING + decodings * DECODING
