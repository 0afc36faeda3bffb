"""The paper's section 5.2: which points of the latent space are unlike the data?

There is no ground truth, so the paper makes one: an ensemble of classifiers looks at what a point decodes to,
and the half of the points they disagree on least is called in-distribution.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from torch import Tensor, nn

from benchmarks.devices import gpu_name
from benchmarks.diagnostics import run_diagnostics
from benchmarks.paper.benchmarks import BENCHMARKS, FULL, QUICK, load_training
from benchmarks.paper.classifiers import class_probabilities, mutual_information, train_classifier
from benchmarks.paper.presets import BenchPreset, find_preset
from dissensus.atomic import atomic_path
from dissensus.evaluation import environment, evaluate, write_record
from dissensus.inputs import load_dataset
from dissensus.latent import aggregated_posterior, annulus, expected_disagreement, mixture_samples
from dissensus.models import VAE, architecture_config
from dissensus.models.inputs import to_tensor, unit_scale
from dissensus.posterior import WeightDraws, load_weights, sample_posterior
from dissensus.seeding import stream_seed, torch_stream

__all__ = [
    "LATENT_FULL",
    "LATENT_QUICK",
    "LatentSettings",
    "latent_path",
    "measure_latent",
    "proxy_scores",
    "score_points",
]

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


LATENT_FULL = LatentSettings()
LATENT_QUICK = LatentSettings(points=500, inputs=8, classifier_epochs=1, draws=6, samples=4)


def latent_path(output: Path, preset: str, seed: int) -> Path:
    """Where the record of a preset and seed is."""
    return output / "latent" / f"{preset}-seed{seed}.json"


def measure_latent(
    output: Path, preset: str, seed: int, *, quick: bool, device: torch.device, console: Console
) -> Path:
    """Samples BVAE₁ on FashionMNIST, labels points by the classifiers, scores them, and writes the record."""
    path = latent_path(output, preset, seed)
    settings = LATENT_QUICK if quick else LATENT_FULL
    own = _one_chain(find_preset(preset, quick=quick), settings.draws)
    described = {
        "latent": asdict(settings),
        "sampling": own.sampling("bvae1").describe(),
        "model": architecture_config(own.vae(BENCHMARK.model)),
    }
    if _is_measured(path, described):
        console.print(f"{path} is there already")
        return path
    started = time.perf_counter()

    def say(what: str) -> None:
        seconds = time.perf_counter() - started
        console.print(f"latent, {preset}, seed {seed}, {seconds:.1f} s: {what}", highlight=False)

    training, validation = load_training(BENCHMARK, QUICK if quick else FULL, seed=seed, device=device)
    vae = own.vae(BENCHMARK.model)
    draws = _last_draws(vae, own, training, validation, settings.draws, seed)
    say(f"{len(draws)} draws")
    z = torch.randn(settings.points, vae.latent_size, generator=torch_stream(seed, "paper", "latent points"))
    z *= settings.variance**0.5
    networks = _classifiers(settings, seed, quick, device)
    proxy = proxy_scores(
        vae, draws, networks, z, inputs=settings.inputs, seed=stream_seed(seed, "proxy"), device=device
    )
    say("proxy labels")
    scores = score_points(vae, draws, z, training, settings, seed=stream_seed(seed, "disagreement"))
    inside = np.zeros(len(proxy), dtype=bool)
    inside[np.argsort(proxy, kind="stable")[: len(proxy) // 2]] = True
    metrics = {name: asdict(evaluate(values[inside], values[~inside])) for name, values in scores.items()}
    say(", ".join(f"{name} AUROC {each['auroc']:.3f}" for name, each in metrics.items()))
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path.with_suffix(".npz")) as temporary, temporary.open("wb") as stream:
        arrays = {name: values.astype(np.float32) for name, values in (scores | {"proxy": proxy}).items()}
        np.savez_compressed(stream, in_distribution=inside, **arrays)  # type: ignore[arg-type]
    write_record(
        path,
        {
            "benchmark": "fashion-mnist-latent",
            "preset": preset,
            "seed": seed,
            "quick": quick,
            "metrics": metrics,
            "classifier_accuracy": _accuracies(networks, device),
            "proxy_quantiles": np.quantile(proxy, [0, 0.25, 0.5, 0.75, 1]).tolist(),
            "scores": path.with_suffix(".npz").relative_to(output).as_posix(),
            "settings": described,
            "draws": len(draws),
            "diagnostics": run_diagnostics(draws),
            "seconds": time.perf_counter() - started,
            "environment": environment(gpu=gpu_name(device)),
        },
    )
    return path


def score_points(
    vae: VAE, draws: WeightDraws, z: Tensor, training: Tensor, settings: LatentSettings, *, seed: int
) -> dict[str, NDArray[np.float64]]:
    """Expected disagreement and both baselines of latent points (n, Z), each (n,), higher = more OoD."""
    means, log_stds = _encodings(vae, draws, training)
    return {
        "BVAE1": expected_disagreement(
            vae,
            draws,
            z,
            inputs=settings.inputs,
            samples=settings.samples,
            seed=seed,
            device=training.device,
        ),
        "Annulus": annulus(z.numpy()),
        "qz": aggregated_posterior(z.numpy(), means, log_stds, neighbours=settings.neighbours),
    }


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


def _one_chain(preset: BenchPreset, draws: int) -> BenchPreset:
    """Chains have latent spaces of their own, so one chain, and long enough to give the draws wanted."""
    return replace(preset, chains=1, epochs=max(preset.epochs, preset.burn_in + draws - 1))


def _is_measured(path: Path, settings: Mapping[str, Any]) -> bool:
    """Whether the record exists, can be read, and was made with these very settings."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    # Through JSON, because a record has lists where the settings have tuples.
    return bool(record.get("settings") == json.loads(json.dumps(settings)))


def _last_draws(
    vae: VAE, preset: BenchPreset, training: Tensor, validation: Tensor, count: int, seed: int
) -> WeightDraws:
    draws = sample_posterior(
        vae,
        training,
        preset.sampling("bvae1"),
        seed=stream_seed(seed, "paper", "latent"),
        held_out=validation,
    )
    return draws.select(np.arange(len(draws))[-count:])


def _classifiers(settings: LatentSettings, seed: int, quick: bool, device: torch.device) -> list[nn.Module]:
    source = load_dataset("fashion-mnist", "train")
    kept = QUICK.training if quick else None
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
