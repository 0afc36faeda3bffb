"""Part (n): how much faster than plain PyTorch a training step can be at all where both use torch's kernels.

A step of one chain on two cores is timed by turns with the straightforward way's, and with nothing but the
layers of the network, forwards and backwards: half a batch on each core at once, without activations, losses,
noise, weights' steps or whatever else training is. Nobody who computes the same with these kernels is faster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.speed.comparison import faster
from benchmarks.speed.sizes import Sizes
from benchmarks.speed.subject import default_vae, images
from benchmarks.speed.timing import median, seconds
from benchmarks.speed.training import our_epochs, straightforward_process
from dissensus.models.inputs import unit_scale
from dissensus.posterior.steady_memory import steady_memory
from dissensus.side_by_side import side_by_side

__all__ = ["measure_training_bound"]

LAYERS = (nn.Conv2d, nn.ConvTranspose2d, nn.Linear)
CORES = 2
STEPS = 8  # in a row, for one is over too soon to be timed
NAME = "straightforward PyTorch"


def measure_training_bound(sizes: Sizes, device: torch.device) -> dict[str, Any]:
    """Milliseconds of a step: ours, the straightforward way's, and that of the layers alone."""
    data, batch = images(sizes.training_images), sizes.batch_size
    others: list[float] = []
    alone: list[float] = []
    kernels = _layers_alone(data[: batch // CORES])
    with straightforward_process() as plain:
        plain.ask("prepare", network="default", count=len(data), batch_size=batch)

        def between() -> None:
            others.append(plain.ask("epoch"))
            alone.append(seconds(kernels, device) / STEPS)

        times = our_epochs(default_vae(), data, batch_size=batch, rounds=sizes.rounds, between=between)
    batches = len(data) // batch
    step, other = median(times.steps) / batches, median(others[1:]) / batches
    what = f"the default conv VAE, batch {batch}, 1 chain"
    return {
        "settings": {"images": len(data), "batch_size": batch, "rounds": sizes.rounds, "cores": CORES},
        "seconds": {"ours": step, "straightforward": other, "layers alone": median(alone[1:])},
        "comparisons": [
            faster(f"training step: {what}", 1e3 * step, 1e3 * other, NAME, "ms").to_dict(),
            faster(
                f"its layers and nothing else: {what}", 1e3 * median(alone[1:]), 1e3 * other, NAME, "ms"
            ).to_dict(),
        ],
    }


def _layers_alone(pixels: Tensor) -> Callable[[], None]:
    """Work that runs all layers a few times, on each core with inputs (b, C, H, W) of its own."""
    runs = [_of_one_core(unit_scale(pixels)) for _ in range(CORES)]

    def work() -> None:
        with steady_memory():
            for _ in side_by_side([run() for run in runs], threads=1):
                pass

    return work


def _of_one_core(x: Tensor) -> Callable[[], Iterator[None]]:
    vae = default_vae()
    seen: list[tuple[nn.Module, Tensor, Tensor]] = []

    def note(layer: nn.Module, given: tuple[Tensor], found: Tensor) -> None:
        seen.append((layer, given[0].detach(), torch.ones_like(found)))

    hooks = [layer.register_forward_hook(note) for layer in vae.modules() if isinstance(layer, LAYERS)]
    vae.objective(x, torch.zeros(len(x), vae.training_noise_size))
    for hook in hooks:
        hook.remove()
    for number, (_, given, _) in enumerate(seen):
        given.requires_grad_(number > 0)  # of the pictures themselves no gradient is wanted

    def run() -> Iterator[None]:
        for _ in range(STEPS):
            for layer, given, gradient in seen:
                wanted = [*layer.parameters(), *([given] if given.requires_grad else [])]
                torch.autograd.grad(layer(given), wanted, gradient)
        yield

    return run
