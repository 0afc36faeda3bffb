"""Peak memory of a large likelihood matrix: 10,000 images, M = 50 draws, K = 64 importance samples.

    python tools/measure_matrix_memory.py [OUTPUT.json]

The networks are narrow, so that 32 million decodings take minutes on two cores; what a tile of the default
networks needs beyond that is a few megabytes. Reads the peak from /proc, so it needs Linux.
"""

import sys
import time
from pathlib import Path

import numpy as np
import torch

from dissensus.evaluation import environment, write_record
from dissensus.likelihood import log_likelihoods
from dissensus.models import build_vae
from dissensus.posterior import PartDraws, WeightDraws
from dissensus.seeding import torch_stream

N, M, K = 10_000, 50, 64
WIDTHS = (2, 4)


def main() -> None:
    """Measures and writes the record."""
    output = Path(sys.argv[1] if len(sys.argv) > 1 else "results/core/matrix_memory.json")
    vae = build_vae((1, 28, 28), widths=WIDTHS, generator=torch_stream(0, "architecture"))
    data = torch.randint(256, (N, 1, 28, 28), generator=torch_stream(0, "images"), dtype=torch.uint8)
    draws = random_draws(vae)
    log_likelihoods(vae, draws.select(np.array([0])), data[:100], samples=K)  # warm-up: libraries allocate
    before, started = resident_mib("VmRSS"), time.perf_counter()
    log_likelihoods(vae, draws, data, samples=K)
    seconds, above = time.perf_counter() - started, resident_mib("VmHWM") - before
    print(f"{N} images, M = {M}, K = {K}: {above:.0f} MiB above the baseline, {seconds:.0f} s")  # noqa: T201
    record = {"images": N, "draws": M, "samples": K, "widths": WIDTHS, "mib_above_baseline": above}
    write_record(output, {**record, "seconds": seconds, "environment": environment()})


def random_draws(vae: torch.nn.Module) -> WeightDraws:
    """M unrelated sets of weights with one encoder: what they are does not matter here."""
    stacks: dict[str, list[torch.Tensor]] = {}
    for draw in range(M):
        vae.initialise_(torch_stream(draw, "weights"))
        for name, parameter in vae.decoder.named_parameters():
            stacks.setdefault(name, []).append(parameter.detach().clone())
    encoder = {name: parameter.detach()[None] for name, parameter in vae.encoder.named_parameters()}
    zeros = np.zeros(M, dtype=np.int64)
    decoder = PartDraws({n: torch.stack(t) for n, t in stacks.items()}, np.arange(M))
    return WeightDraws({"decoder": decoder, "encoder": PartDraws(encoder, zeros)}, zeros, np.arange(M))


def resident_mib(field: str) -> float:
    """A memory field of this process, in MiB."""
    line = next(x for x in Path("/proc/self/status").read_text().splitlines() if x.startswith(field))
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    main()
