"""The library's own rate, which the service is held against: all cores, one large batch, its own process."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.places import ROOT
from dissensus.errors import DissensusError

__all__ = ["HOW", "library_rates"]

HOW = (
    "BayesianVAE.decide on one array of unpacked pictures, in a fresh process like the server's with "
    "torch on all its cores: one run to warm up, then the runs listed, before and after the service was "
    "measured; the rate is the median of them all"
)


def library_rates(gate: Path, images: Path, *, runs: int) -> list[float]:
    """Inputs a second of each run over ``images``, an .npy file (N, H, W, C)."""
    command = [sys.executable, "-m", __name__, str(gate.resolve()), str(images.resolve()), str(runs)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise DissensusError(f"the library's own rate could not be measured: {last}")
    return [float(rate) for rate in json.loads(done.stdout)]


def _measure(gate_path: str, images_path: str, runs: str) -> list[float]:
    import torch

    from dissensus.detector import BayesianVAE
    from dissensus.evaluation import cores

    torch.set_num_threads(cores())
    gate, images = BayesianVAE.load(gate_path, device="cpu"), np.load(images_path)
    rates = []
    for _ in range(1 + int(runs)):
        began = time.perf_counter()
        gate.decide(images)
        rates.append(len(images) / (time.perf_counter() - began))
    return rates[1:]


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_measure(*sys.argv[1:])))
