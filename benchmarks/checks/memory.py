"""Peak memory of a large likelihood matrix, of which only the answers may grow with the inputs.

The networks are narrow, so that eight million decodings take minutes on two cores; what a tile of the
default networks needs beyond that is a few megabytes. Reads the peak from /proc, so it needs Linux, in a
process of its own, whose peak is nobody else's.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.checks.asked import Asked
from benchmarks.pieces import Found, Piece
from benchmarks.places import ROOT
from benchmarks.records import Record
from dissensus.errors import DissensusError
from dissensus.likelihood import log_likelihoods
from dissensus.models import VAE, build_vae
from dissensus.posterior import PartDraws, WeightDraws
from dissensus.seeding import torch_stream

__all__ = ["pieces", "sentences"]

SIZES = {"images": 2500, "draws": 50, "samples": 64}
QUICK = {"images": 200, "draws": 2, "samples": 4}
WIDTHS = (2, 4)


def pieces(asked: Asked) -> Iterator[Piece]:
    """One matrix."""
    sizes = QUICK if asked.quick else SIZES
    yield Piece("memory", "likelihood matrix", {**sizes, "widths": WIDTHS}, partial(_in_new_process, sizes))


def sentences(records: list[Record]) -> list[str]:
    """One sentence a matrix."""
    return [
        f"Memory: a matrix of {row['images']} images, M = {row['draws']} and K = {row['samples']} took "
        f"{row['mib_above_baseline']:.0f} MiB above the baseline."
        for record in records
        for row in record.rows
    ]


def _in_new_process(sizes: Mapping[str, int], _: Callable[[str], None]) -> Found:
    call = [sys.executable, "-m", __name__, json.dumps(sizes)]
    done = subprocess.run(call, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode:
        raise DissensusError(f"the matrix could not be measured: {done.stderr.strip()[-500:]}")
    return Found([json.loads(done.stdout)])


def _measured(images: int, draws: int, samples: int) -> dict[str, Any]:
    vae = build_vae((1, 28, 28), widths=WIDTHS, generator=torch_stream(0, "architecture"))
    data = torch.randint(256, (images, 1, 28, 28), generator=torch_stream(0, "images"), dtype=torch.uint8)
    weights = _random_draws(vae, draws)
    # Not counted: what libraries allocate in their first calls.
    log_likelihoods(vae, weights.select(np.array([0])), data[:100], samples=samples)
    before = _resident_mib("VmRSS")
    log_likelihoods(vae, weights, data, samples=samples)
    above = _resident_mib("VmHWM") - before
    return {"images": images, "draws": draws, "samples": samples, "mib_above_baseline": above}


def _random_draws(vae: VAE, draws: int) -> WeightDraws:
    """Unrelated sets of weights with one encoder: what they are does not matter here."""
    stacks: dict[str, list[torch.Tensor]] = {}
    for draw in range(draws):
        vae.initialise_(torch_stream(draw, "weights"))
        for name, parameter in vae.decoder.named_parameters():
            stacks.setdefault(name, []).append(parameter.detach().clone())
    encoder = {name: parameter.detach()[None] for name, parameter in vae.encoder.named_parameters()}
    zeros = np.zeros(draws, dtype=np.int64)
    decoder = PartDraws({n: torch.stack(t) for n, t in stacks.items()}, np.arange(draws))
    return WeightDraws({"decoder": decoder, "encoder": PartDraws(encoder, zeros)}, zeros, np.arange(draws))


def _resident_mib(field: str) -> float:
    """A memory field of this process, in MiB."""
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1]) / 1024


if __name__ == "__main__":
    json.dump(_measured(**json.loads(sys.argv[1])), sys.stdout)
