"""Part (a): a training step and an epoch, with one chain and with several, beside the straightforward way."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor

from benchmarks.speed.comparison import Comparison, faster, more
from benchmarks.speed.sizes import Sizes
from benchmarks.speed.straightforward import Training
from benchmarks.speed.subject import conv_vae, default_vae, images, plain_conv
from benchmarks.speed.timing import median, seconds
from benchmarks.speed.worker import Worker
from dissensus.models import VAE
from dissensus.models.inputs import unit_scale
from dissensus.posterior import EpochReport, SamplingSettings, sample_posterior

__all__ = ["OurEpochs", "measure_training", "our_epochs", "straightforward_process"]

PROCESSES = 3  # asked in turn, the median counts: for its whole life one is a third slower than another
LOADER_WORKERS = 4  # on a GPU, as everybody has it; on a CPU they would compete with the training


class OurEpochs(NamedTuple):
    """Seconds of the epochs after the first, which compiles and warms up."""

    whole: list[float]
    """With diagnostics and everything else the driver does."""
    steps: list[float]
    """The steps alone, of all chains together."""
    first: float


def our_epochs(
    vae: VAE,
    data: Tensor,
    *,
    batch_size: int,
    rounds: int,
    chains: int = 1,
    plain: bool = False,
    between: Callable[[], object] | None = None,
) -> OurEpochs:
    """Times ``rounds`` epochs of variant 1, or of ``plain`` training; in ``between``, others may be timed."""
    whole: list[float] = []
    steps: list[float] = []
    started = time.perf_counter()

    def on_epoch(reports: Sequence[EpochReport]) -> None:
        nonlocal started
        if data.is_cuda:
            torch.cuda.synchronize(data.device)
        whole.append(time.perf_counter() - started)
        steps.append(reports[0].seconds * len(reports))
        if between is not None:
            between()
        started = time.perf_counter()

    epochs = rounds + 1
    # Only the last epoch is kept as a draw, and adaptation goes on in it: all epochs cost the same.
    settings = (
        SamplingSettings.ensemble(chains, epochs, batch_size=batch_size)
        if plain
        else SamplingSettings.variant_1(epochs=epochs, burn_in=epochs, chains=chains, batch_size=batch_size)
    )
    sample_posterior(vae, data, settings, seed=0, on_epoch=on_epoch)
    return OurEpochs(whole[1:], steps[1:], whole[0])


def straightforward_process() -> Worker:
    """The straightforward implementation on a CPU, in a process of its own."""
    return Worker([sys.executable, "-m", "benchmarks.speed.straightforward_process"])


def measure_training(sizes: Sizes, device: torch.device) -> dict[str, Any]:
    """Seconds a step and an epoch by the number of chains, and the comparisons."""
    networks = {"conv": conv_vae} if device.type == "cuda" else {"conv": conv_vae, "default": default_vae}
    data = images(sizes.training_images).to(device)
    rows: list[dict[str, Any]] = []
    comparisons: list[Comparison] = []
    for network, make in networks.items():
        with _straightforward(network, sizes, device) as other_epoch:
            for chains in sizes.chains if network == "conv" else sizes.compared_chains:
                others: list[float] = []
                compared = chains in sizes.compared_chains

                def between(others: list[float] = others) -> None:
                    others.append(other_epoch())

                if device.type == "cuda":
                    torch.cuda.reset_peak_memory_stats(device)
                times = our_epochs(
                    make(),
                    data,
                    chains=chains,
                    batch_size=sizes.batch_size,
                    rounds=sizes.rounds,
                    between=between if compared else None,
                )
                batches = len(data) // sizes.batch_size
                rows.append(
                    {
                        "network": network,
                        "chains": chains,
                        "epoch_seconds": median(times.whole),
                        "step_seconds_per_chain": median(times.steps) / (batches * chains),
                        "first_epoch_seconds": times.first,
                        "peak_bytes": torch.cuda.max_memory_allocated(device) if data.is_cuda else None,
                        "straightforward_epoch_seconds": median(others[1:]) if compared else None,
                    }
                )
                if compared:
                    comparisons += _compared(rows[-1], batches, sizes.batch_size)
    return {
        "settings": {
            "images": len(data),
            "batch_size": sizes.batch_size,
            "rounds": sizes.rounds,
            "straightforward_processes": 1 if device.type == "cuda" or sizes.quick else PROCESSES,
        },
        "chains": rows,
        "comparisons": [one.to_dict() for one in comparisons],
    }


@contextmanager
def _straightforward(network: str, sizes: Sizes, device: torch.device) -> Iterator[Callable[[], float]]:
    """A function that trains the straightforward way for an epoch, and says how long that took."""
    if device.type == "cuda":
        training = Training(
            plain_conv(),
            unit_scale(images(sizes.training_images)),
            batch_size=sizes.batch_size,
            device=device,
            workers=LOADER_WORKERS,
        )
        yield lambda: seconds(training.epoch, device)
        return
    with ExitStack() as running:
        processes = [
            running.enter_context(straightforward_process()) for _ in range(1 if sizes.quick else PROCESSES)
        ]
        for process in processes:
            process.ask("prepare", network=network, count=sizes.training_images, batch_size=sizes.batch_size)
        yield lambda: median([float(process.ask("epoch")) for process in processes])


def _compared(row: dict[str, Any], batches: int, batch_size: int) -> list[Comparison]:
    chains, other = row["chains"], row["straightforward_epoch_seconds"]
    network = {"conv": "the paper's conv VAE", "default": "the default conv VAE"}[row["network"]]
    what = f"{network}, batch {batch_size}, {chains} {'chain' if chains == 1 else 'chains'}"
    trained, name = batches * batch_size, "straightforward PyTorch"
    return [
        faster(
            f"training step of a chain: {what}",
            1e3 * row["step_seconds_per_chain"],
            1e3 * other / batches,
            name,
            "ms",
        ),
        more(
            f"training with all that an epoch brings: {what}",
            trained * chains / row["epoch_seconds"],
            trained / other,
            name,
            "images/s",
        ),
    ]
