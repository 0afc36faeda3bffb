"""Compares settings by what may be looked at: validation likelihood and the sampler's own diagnostics.

Only training images are read, so that nothing about the outliers can find its way into a preset.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console

from benchmarks.devices import gpu_name
from benchmarks.diagnostics import NOISE_FLOOR_INPUTS, likelihood_summary, run_diagnostics
from benchmarks.grid import candidates, plain_changes
from benchmarks.paper.benchmarks import FULL, QUICK, Benchmark, load_training
from benchmarks.paper.presets import RunName, find_preset
from benchmarks.paper.runs import RunKey
from dissensus.errors import DivergenceError
from dissensus.evaluation import environment, write_record
from dissensus.likelihood import log_likelihoods, noise_floor
from dissensus.posterior import sample_posterior
from dissensus.seeding import stream_seed

__all__ = ["compare", "select_settings"]

SELECTED_RUNS: tuple[RunName, ...] = ("bvae1", "bvae2")


def select_settings(
    output: Path,
    benchmarks: Sequence[Benchmark],
    presets: Sequence[str],
    grid: Sequence[str],
    seeds: Sequence[int],
    *,
    quick: bool,
    device: torch.device,
    console: Console,
) -> None:
    """Runs both variants with every combination of the grid; one record each under ``selection/``."""
    sizes = QUICK if quick else FULL
    for benchmark, seed, name in itertools.product(benchmarks, seeds, presets):
        for changes, preset in candidates(find_preset(name, quick=quick), grid):
            for run in SELECTED_RUNS:
                key = RunKey(benchmark, run, preset, sizes, seed)
                path = output / "selection" / f"{key.name}.json"
                if path.exists():
                    continue
                record = compare(key, device=device)
                write_record(
                    path,
                    {
                        "benchmark": benchmark.name,
                        "run": run,
                        "preset": name,
                        "changes": plain_changes(changes),
                        "seed": seed,
                        "quick": quick,
                        "preset_settings": plain_changes(asdict(preset)),
                        **record,
                        "environment": environment(gpu=gpu_name(device)),
                    },
                )
                console.print(f"{benchmark.name}, {run}, {name}, {changes}: {_line(record)}", highlight=False)


def compare(key: RunKey, *, device: torch.device) -> dict[str, Any]:
    """One candidate: what its draws give the validation images, and what the sampler says of itself."""
    training, validation = load_training(key.benchmark, key.sizes, seed=key.seed, device=device)
    vae = key.preset.vae(key.benchmark.model)
    started = time.perf_counter()
    try:
        draws = sample_posterior(
            vae,
            training,
            key.preset.sampling(key.run),
            seed=stream_seed(key.seed, "paper", key.benchmark.name, key.run),
            held_out=validation,
        )
    except DivergenceError as error:
        return {"diverged": str(error)}
    seconds = time.perf_counter() - started
    K, seed = key.preset.importance_samples(key.run), stream_seed(key.seed, "paper", "scoring")
    matrix = log_likelihoods(vae, draws, validation, samples=K, seed=seed, device=device)
    return {
        "diverged": None,
        "settings": key.settings,
        "draws": len(draws),
        "seconds": seconds,
        "diagnostics": {
            **run_diagnostics(draws),
            **likelihood_summary(matrix.values),
            "importance_sampling_error": float(np.median(matrix.errors)),
            "noise_floor": noise_floor(
                vae, draws, validation[:NOISE_FLOOR_INPUTS], samples=K, seed=seed, device=device
            ),
            "spread_over_draws": float(matrix.values.std(axis=0).mean()),
        },
    }


def _line(record: dict[str, Any]) -> str:
    if record["diverged"]:
        return f"diverged: {record['diverged']}"
    found = record["diagnostics"]
    numbers = {
        "log p": found["validation_log_likelihood"],
        "of mixture": found["validation_log_likelihood_of_mixture"],
        "R̂": found["rhat"],
        "error": found["importance_sampling_error"],
        "spread": found["spread_over_draws"],
    }
    health = found["last_epoch"].get("decoder", {})
    numbers |= {name: health[name] for name in ("kappa_50", "clamped_share", "kinetic_temperature") if health}
    shown = ", ".join(
        f"{name} {value:.3g}" if value is not None else f"{name} –" for name, value in numbers.items()
    )
    return f"{record['seconds']:.1f} s, {shown}"
