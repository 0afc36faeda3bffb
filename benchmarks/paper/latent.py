"""The paper's section 5.2: which points of the latent space are unlike the data?

There is no ground truth, so the paper makes one: an ensemble of classifiers looks at what a point decodes to,
and the half of the points they disagree on least is called in-distribution.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from benchmarks.archive import Archive
from benchmarks.curves import roc_points
from benchmarks.diagnostics import run_diagnostics
from benchmarks.paper.benchmarks import BENCHMARKS, FULL, QUICK, Inputs, Sizes, load_inputs
from benchmarks.paper.classifiers import class_probabilities, mutual_information, train_classifier
from benchmarks.paper.presets import BenchPreset, find_preset
from benchmarks.progress import DECODING, TRAINING
from benchmarks.runner import Advance, Report, Results, Run, Task
from dissensus.evaluation import evaluate
from dissensus.inputs import load_dataset
from dissensus.latent import (
    LatentSpace,
    aggregated_posterior,
    annulus,
    expected_disagreement,
    mixture_samples,
)
from dissensus.models import VAE, architecture_config
from dissensus.models.inputs import to_tensor, unit_scale
from dissensus.posterior import SamplingSettings, WeightDraws, load_weights, sample_posterior
from dissensus.scores import effective_sample_size, ess_disagreement
from dissensus.seeding import stream_seed, torch_stream

__all__ = [
    "GROUP",
    "LATENT_FULL",
    "LATENT_QUICK",
    "OWN_FORM",
    "SCORES",
    "LatentRun",
    "LatentSettings",
    "latent_tasks",
    "proxy_scores",
    "score_points",
]

GROUP = "latent"
"""Of the records, which are called after their presets."""
OWN_FORM = "BVAE1-mean-D"
"""Expected disagreement as the paper writes it, the mean of D = 1/Σw², which ties once each input has D = 1.
``BVAE1`` is that of −log(1 − 1/D), which ranks single inputs alike and never ties."""
SCORES = ("BVAE1", OWN_FORM, "Annulus", "qz", "information", "norm", "kNN")
"""Of the last three the first is the cheap form of disagreement, one decoding a draw; then ‖z‖, and the
distance to the tenth nearest code of a training image."""
NEAREST = 10
BENCHMARK = BENCHMARKS["fashion-mnist-vs-mnist"]  # for its training images; the outliers are not looked at


@dataclass(frozen=True)
class LatentSettings:
    """N, b, L and J are the paper's; draws and samples bound the cost of N · L · M · K decodings."""

    points: int = 10_000
    variance: float = 10_000.0
    inputs: int = 32
    classifiers: int = 5
    classifier_epochs: int = 5
    neighbours: int = 100
    draws: int = 16
    samples: int = 8
    chains: int = 1
    """Above 1, so many share the encoder of the first, and each gives as many of the draws."""


LATENT_FULL = LatentSettings()
LATENT_QUICK = LatentSettings(points=500, inputs=8, classifier_epochs=1, draws=6, samples=4)


def latent_tasks(presets: Sequence[str], seeds: Sequence[int], *, quick: bool) -> list[Task]:
    """A record for each preset and seed; where a preset has several chains, another of them together."""
    tasks = []
    for seed in seeds:
        for name in presets:
            settings, preset = LATENT_QUICK if quick else LATENT_FULL, find_preset(name, quick=quick)
            for chains in dict.fromkeys((preset.chains, 1)):
                own = _preset_for(preset, settings.draws, chains)
                run = LatentRun(own, replace(settings, chains=chains), QUICK if quick else FULL, seed)
                tasks.append(Task(GROUP, own.name, seed, run.settings, {"bvae1": run}, _report))
    return tasks


@dataclass(frozen=True)
class LatentRun(Run):
    """Samples BVAE₁ on FashionMNIST, labels points by the classifiers, and scores them."""

    preset: BenchPreset
    latent: LatentSettings
    sizes: Sizes
    seed: int

    @property
    def label(self) -> str:
        """As in ``latent, settled, seed 0``."""
        return f"latent, {self.preset.name}, seed {self.seed}"

    @property
    def sampling(self) -> SamplingSettings:
        """Of one chain, or of several with the encoder of the first."""
        return self.preset.sampling("bvae1").with_(shared_inference=self.latent.chains > 1)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "latent": asdict(self.latent),
            "sampling": self.sampling.describe(),
            "model": architecture_config(self.preset.vae(BENCHMARK.model)),
            "sizes": asdict(self.sizes),
            "scores": SCORES,
        }

    @property
    def inputs(self) -> Hashable:
        """The training images of a seed."""
        return self.sizes, self.seed

    def load(self, device: torch.device) -> Inputs:
        """Training and validation images; no others are read."""
        return load_inputs(BENCHMARK, self.sizes, seed=self.seed, purpose="selection", device=device)

    @staticmethod
    def work(runs: Sequence[LatentRun]) -> float:
        """What the runs cost: the training, and N · L · M · K decodings."""
        total = 0.0
        for run in runs:
            sampling, own = run.preset.sampling("bvae1"), run.latent
            images = run.sizes.training or BENCHMARK.training_images
            total += sampling.chains * sampling.epochs * images * TRAINING
            total += own.points * own.inputs * own.draws * own.samples * DECODING
        return total

    @staticmethod
    def make(
        runs: Sequence[LatentRun], data: Inputs, advance: Advance, checkpoint: Path | None
    ) -> Iterator[tuple[LatentRun, Archive]]:
        """One after the other."""
        for run in runs:
            yield run, run._made(data, advance, checkpoint)

    def _made(self, data: Inputs, advance: Advance, checkpoint: Path | None) -> Archive:
        settings, seed, device = self.latent, self.seed, data.training.device
        vae = self.preset.vae(BENCHMARK.model)
        started = time.perf_counter()
        drawn = sample_posterior(
            vae,
            data.training,
            self.sampling,
            seed=stream_seed(seed, "paper", "latent"),
            held_out=data.validation,
            checkpoint=checkpoint,
            on_epoch=lambda reports: advance(len(reports) * len(data.training) * TRAINING),
        )
        draws = drawn.select(_last_of_each(drawn, settings))
        trained = time.perf_counter()
        z = torch.randn(
            settings.points, vae.latent_size, generator=torch_stream(seed, "paper", "latent points")
        )
        z *= settings.variance**0.5
        networks = _classifiers(settings, seed, self.sizes.training, device)
        proxy = proxy_scores(
            vae, draws, networks, z, inputs=settings.inputs, seed=stream_seed(seed, "proxy"), device=device
        )
        labelled = time.perf_counter()
        scores = score_points(vae, draws, z, data.training, settings, seed=stream_seed(seed, "disagreement"))
        return Archive(
            {"proxy": proxy, **{f"score/{name}": values for name, values in scores.items()}},
            {
                "draws": len(draws),
                "diagnostics": run_diagnostics(draws),
                "classifier_accuracy": _accuracies(networks, device),
                "seconds": {
                    "training": trained - started,
                    "proxy labels": labelled - trained,
                    "scoring": time.perf_counter() - labelled,
                },
            },
        )


def _report(results: Results) -> Report:
    """A row a score; the half of the points that the classifiers disagree on least is in-distribution."""
    (result,) = results.values()
    proxy, scores = result["proxy"], result.below("score")
    inside = np.zeros(len(proxy), dtype=bool)
    inside[np.argsort(proxy, kind="stable")[: len(proxy) // 2]] = True
    return Report(
        [{"score": name, **asdict(evaluate(each[inside], each[~inside]))} for name, each in scores.items()],
        {
            "roc": {name: roc_points(each[inside], each[~inside]) for name, each in scores.items()},
            "classifier_accuracy": result.info["classifier_accuracy"],
            "proxy_quantiles": np.quantile(proxy, [0, 0.25, 0.5, 0.75, 1]),
        },
    )


def score_points(
    vae: VAE, draws: WeightDraws, z: Tensor, training: Tensor, settings: LatentSettings, *, seed: int
) -> dict[str, NDArray[np.float64]]:
    """The scores of latent points (n, Z) by name, each (n,), higher = more OoD."""
    means, log_stds = _encodings(vae, draws, training)
    both = expected_disagreement(
        vae,
        draws,
        z,
        inputs=settings.inputs,
        samples=settings.samples,
        score=lambda matrix: np.stack([ess_disagreement(matrix), -effective_sample_size(matrix)]),
        seed=seed,
        device=training.device,
    )
    qz = aggregated_posterior(z, means, log_stds, neighbours=settings.neighbours).numpy()
    cheap = LatentSpace(vae, draws, device=training.device).disagreement(z)
    nearest = torch.cdist(z, torch.from_numpy(means)).topk(NEAREST, dim=1, largest=False).values[:, -1]
    others = (cheap, z.norm(dim=1), nearest)
    found = (*both, annulus(z).numpy(), qz, *(each.double().cpu().numpy() for each in others))
    return dict(zip(SCORES, found, strict=True))


def proxy_scores(
    vae: VAE,
    draws: WeightDraws,
    networks: list[nn.Module],
    z: Tensor,
    *,
    inputs: int,
    seed: int,
    device: torch.device,
    block: int = 256,
) -> NDArray[np.float64]:
    """E_{p(x|z,D)} Q_W[x] of every point: (n, Z) → (n,), with ``inputs`` decoded by the mixture of draws."""
    values = []
    for start in range(0, len(z), block):
        points = z[start : start + block]
        x = mixture_samples(
            vae, draws, points, inputs=inputs, seed=stream_seed(seed, "block", start), device=device
        )
        novelty = mutual_information(class_probabilities(networks, x.flatten(0, 1)))
        values.append(novelty.view(len(points), inputs).mean(1).cpu().numpy())
    return np.concatenate(values)


def _preset_for(preset: BenchPreset, draws: int, chains: int) -> BenchPreset:
    """Chains have latent spaces of their own: one, or several with one encoder; long enough for the draws."""
    name = preset.name if chains == 1 else f"{preset.name}-shared-encoder"
    epochs = max(preset.epochs, preset.burn_in + draws // chains - 1)
    return replace(preset, name=name, chains=chains, epochs=epochs)


def _last_of_each(drawn: WeightDraws, settings: LatentSettings) -> NDArray[np.int64]:
    """The places of the last draws of every chain."""
    own = [np.flatnonzero(drawn.chain == chain) for chain in np.unique(drawn.chain)]
    return np.sort(np.concatenate([places[-(settings.draws // settings.chains) :] for places in own]))


def _classifiers(
    settings: LatentSettings, seed: int, kept: int | None, device: torch.device
) -> list[nn.Module]:
    source = load_dataset("fashion-mnist", "train")
    images = to_tensor(source.images[:kept, ..., None]).to(device)
    labels = torch.from_numpy(source.labels[:kept]).to(device)
    return [
        train_classifier(
            images,
            labels,
            epochs=settings.classifier_epochs,
            seed=stream_seed(seed, "paper", "classifier", number),
        )
        for number in range(settings.classifiers)
    ]


def _accuracies(networks: list[nn.Module], device: torch.device) -> list[float]:
    """Each classifier's share of right answers on the test set: their disagreement should mean something."""
    source = load_dataset("fashion-mnist", "test")
    p = class_probabilities(networks, unit_scale(to_tensor(source.images[..., None]).to(device)))
    right = p.argmax(2).cpu() == torch.from_numpy(source.labels.astype(np.int64))
    return [float(share) for share in right.double().mean(1)]


@torch.no_grad()
def _encodings(vae: VAE, draws: WeightDraws, training: Tensor) -> tuple[NDArray[Any], NDArray[Any]]:
    """Mean and log σ of every training image (N, Z) under the chain's encoder."""
    model = vae.to(training.device)
    load_weights(model.encoder, draws.weights("encoder", 0))
    encoded = [model.encode(unit_scale(batch)) for batch in torch.split(training, 4096)]
    means, log_stds = (torch.cat(part).cpu().numpy() for part in zip(*encoded, strict=True))
    return means, log_stds
