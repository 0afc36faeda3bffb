"""The costly part: draws are made once, and every image meets every draw once, for all outliers and scores.

What is left is cached under a name that holds everything it depends on.
"""

from __future__ import annotations

import copy
import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from benchmarks.diagnostics import NOISE_FLOOR_INPUTS, likelihood_summary, run_diagnostics
from benchmarks.panel.configuration import Configuration
from benchmarks.panel.inputs import Inputs, Purpose, Sizes
from benchmarks.panel.run_result import PanelResult
from benchmarks.panel.sets import InlierSet
from benchmarks.progress import DECODING, TRAINING
from dissensus.likelihood import input_statistics, log_likelihoods, noise_floor
from dissensus.models import VAE, architecture_config
from dissensus.models.vae import likelihood_regret
from dissensus.posterior import SamplingSettings, WeightDraws, load_draw, sample_posterior
from dissensus.seeding import stream_seed

__all__ = ["RunKey", "execute", "training_work"]

COLOUR_COST = 2.0  # of an image of 32×32×3, relative to one of 28×28


@dataclass(frozen=True)
class RunKey:
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
    def training(self) -> str:
        """A name that runs share if one training serves them all."""
        settings = {
            "sampling": self.sampling.describe(),
            "model": architecture_config(self.configuration.vae(self.inliers.shape)),
            "sizes": asdict(self.sizes),
        }
        return f"{self.inliers.name}-{self.purpose}-seed{self.seed}-{_digest(settings)}"

    @property
    def settings(self) -> dict[str, Any]:
        """As plain values. The score is not among them: it is made from what is cached."""
        chosen = asdict(self.configuration)
        del chosen["score"]
        return {
            "configuration": chosen,
            "sampling": self.sampling.describe(),
            "model": architecture_config(self.configuration.vae(self.inliers.shape)),
            "sizes": asdict(self.sizes),
            "purpose": self.purpose,
        }

    @property
    def digest(self) -> str:
        """A short name of the settings."""
        return _digest(self.settings)

    @property
    def name(self) -> str:
        """The name of the run's files."""
        kind = self.configuration.posterior
        return f"{self.inliers.name}-{self.purpose}-{kind}-seed{self.seed}-{self.digest}"

    @property
    def scoring_work(self) -> float:
        """What the matrix costs, in the units of the progress bar."""
        images = self.sizes.scored(self.inliers, self.purpose)
        return self.sampling.draws * images * self.configuration.samples * DECODING * self.weight

    @property
    def weight(self) -> float:
        """What an image costs."""
        return COLOUR_COST if self.inliers.colour else 1.0


def training_work(key: RunKey) -> float:
    """What the training costs, in the units of the progress bar."""
    images = key.sizes.training_size(key.inliers, key.purpose)
    return key.sampling.chains * key.sampling.epochs * images * TRAINING * key.weight


def execute(
    keys: Sequence[RunKey],
    inputs: Inputs,
    *,
    advance: Callable[[float], None] = lambda work: None,  # noqa: ARG005
    checkpoint: Path | None = None,
) -> Iterator[tuple[RunKey, PanelResult]]:
    """One training for all keys, which must agree on it, on the device the images are on.

    A matrix is made once for each number and noise of importance samples; keys that use fewer draws take
    rows of it. With ``checkpoint``, a folder, an interrupted run goes on where it stopped.
    """
    first, device = keys[0], inputs.training.device
    vae = first.configuration.vae(first.inliers.shape)
    clock = _Clock()
    draws = sample_posterior(
        vae,
        inputs.training,
        first.sampling,
        seed=stream_seed(first.seed, "panel", first.inliers.name),
        held_out=inputs.scored[inputs.sections["fitting"]],
        checkpoint=None if checkpoint is None else checkpoint / "training",
        on_epoch=lambda reports: advance(len(reports) * len(inputs.training) * TRAINING * first.weight),
    )
    seconds = {"training": clock.lap()}
    watched = run_diagnostics(draws)
    regret = _regret(vae, draws, inputs, first.sizes.regret, seed=first.seed)
    without_model = inputs.image_statistics
    seconds["regret and image statistics"] = clock.lap()
    matrices: dict[tuple[int, str], tuple[NDArray[np.float64], dict[str, float | None]]] = {}
    statistics: dict[tuple[int, ...], dict[str, NDArray[np.float64]]] = {}  # by the draws they are of
    for key in keys:
        chosen = key.configuration
        scoring = (chosen.samples, chosen.noise)
        if scoring not in matrices:

            def on_tile(pairs: int, key: RunKey = key) -> None:
                advance(pairs * key.configuration.samples * DECODING * key.weight)

            matrices[scoring] = _matrix(key, vae, draws, inputs, on_tile, checkpoint)
            seconds["matrix"] = clock.lap()
        matrix, errors = matrices[scoring]
        rows = chosen.used(draws.chain)
        if (used := tuple(rows.tolist())) not in statistics:
            statistics[used] = input_statistics(vae, draws.select(rows), inputs.scored, device=device)
            seconds["statistics"] = clock.lap()
        info = {
            "settings": key.settings,
            "seed": key.seed,
            "draws": len(rows),
            "seconds": dict(seconds),
            "diagnostics": {
                **watched,
                **likelihood_summary(matrix[rows][:, inputs.sections["fitting"]]),
                **errors,
            },
        }
        yield (
            key,
            PanelResult(
                matrix=matrix[rows],
                statistics={**statistics[used], **without_model},
                sections=inputs.sections,
                regret=regret,
                info=info,
            ),
        )


def _matrix(
    key: RunKey,
    vae: VAE,
    draws: WeightDraws,
    inputs: Inputs,
    on_tile: Callable[[int], None],
    checkpoint: Path | None,
) -> tuple[NDArray[np.float64], dict[str, float | None]]:
    """The matrix (M, N) of all draws and images, and how well it is known, in nats."""
    K, fresh = key.configuration.samples, key.configuration.noise == "fresh"
    seed, device = stream_seed(key.seed, "panel", "scoring"), inputs.training.device

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


def _digest(settings: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:12]
