"""Part (d): how time and peak memory grow with N, M, K and C, as slopes on log axes.

A slope of 1 is work in proportion; of 0, no growth. On a CPU every point is a process of its own, because the
high-water mark of a process never falls.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.places import ROOT
from benchmarks.speed.sizes import Sizes
from benchmarks.speed.subject import conv_vae, random_draws, trained_draws
from benchmarks.speed.timing import seconds
from dissensus.errors import DissensusError
from dissensus.likelihood import log_likelihoods
from dissensus.posterior import SamplingSettings, sample_posterior
from dissensus.seeding import torch_stream

__all__ = ["measure_growth", "point", "slope"]

TRAINING_IMAGES = 1024


def measure_growth(sizes: Sizes, device: torch.device) -> dict[str, Any]:
    """Points along each axis, the others held, and the slopes fitted through them."""
    N, M, K = sizes.growth_base
    axes: dict[str, list[dict[str, int]]] = {
        "N": [{"N": value, "M": M, "K": K} for value in sizes.growth_images],
        "M": [{"N": N, "M": value, "K": K} for value in sizes.growth_draws],
        "K": [{"N": N, "M": M, "K": value} for value in sizes.growth_samples],
    }
    if device.type == "cpu":  # on a GPU the part "training" has both numbers for chains
        axes["C"] = [{"N": TRAINING_IMAGES, "C": value} for value in sizes.chains]
    found = {}
    for name, points in axes.items():
        measured = [
            point(**settings, rounds=sizes.rounds, device=device)
            if device.type == "cuda"
            else _in_new_process(settings | {"rounds": sizes.rounds})
            for settings in points
        ]
        values = [settings[name] for settings in points]
        found[name] = {
            "points": [settings | own for settings, own in zip(points, measured, strict=True)],
            "time_slope": slope(values, [own["seconds"] for own in measured]),
            "memory_slope": slope(values, [own["peak_bytes"] for own in measured]),
        }
    return {
        "settings": {"rounds": sizes.rounds, "network": "convolutional"},
        "axes": found,
        "comparisons": [],
    }


def slope(values: Sequence[float], sizes: Sequence[float]) -> float:
    """Of the least-squares line through the points on log axes.

    >>> round(slope([1, 2, 4], [3.0, 6.0, 12.0]), 6)
    1.0
    """
    return float(np.polyfit(np.log(values), np.log(sizes), 1)[0])


def point(
    *, N: int, M: int = 1, K: int = 1, C: int | None = None, rounds: int, device: torch.device
) -> dict[str, Any]:
    """Seconds and peak memory of scoring N inputs with M draws and K samples, or of an epoch of C chains.

    The memory is a process's on a CPU, and on a GPU what is taken besides the inputs.
    """
    # Noise serves as well as pictures here, and reading them would leave a high-water mark of its own.
    random = torch_stream(0, "speed", "growth")
    data = torch.randint(0, 256, (N, 1, 28, 28), dtype=torch.uint8, generator=random).to(device)
    vae = conv_vae()
    # On a GPU only settled weights are scored in half precision; on a CPU any cost the same.
    draws = random_draws(vae, M) if device.type == "cpu" else trained_draws("bernoulli", M, device)
    if C is None:
        log_likelihoods(vae, draws, data[:8], samples=K, device=device)
    before = 0
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)  # the inputs themselves lie there from the start

    def work() -> None:
        if C is None:
            log_likelihoods(vae, draws, data, samples=K, device=device)
        else:
            settings = SamplingSettings.variant_1(epochs=1, chains=C)
            sample_posterior(vae, data, settings, seed=0)

    # The fastest round: what else a machine does meanwhile would bend a line through a few points.
    return {
        "seconds": min(seconds(work, device) for _ in range(rounds)),
        "peak_bytes": _peak(device) - before,
    }


def _peak(device: torch.device) -> int:
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    status = Path("/proc/self/status")
    if status.is_file():
        lines = status.read_text(encoding="utf-8").splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    import resource

    # On Linux this would start at the peak of the process that started this one.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _in_new_process(settings: dict[str, int]) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.speed.growth", json.dumps(settings)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if answer.returncode:
        raise DissensusError(f"measuring growth at {settings} failed: {answer.stderr[-500:]}")
    measured: dict[str, Any] = json.loads(answer.stdout)
    return measured


if __name__ == "__main__":
    sys.stdout.write(json.dumps(point(**json.loads(sys.argv[1]), device=torch.device("cpu"))))
