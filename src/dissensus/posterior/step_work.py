"""How much there is to do in a step of a chain, and how many cores it is worth dividing between."""

from __future__ import annotations

from dissensus.models import VAE
from dissensus.torch_threads import LEAST_WORK, threads_for

__all__ = ["step_is_long", "step_outweighs_python", "step_threads"]

LEAST_PICTURE_WORK = 1_000_000  # weights × pictures; convolutions use each weight many times


def step_threads(vae: VAE, batch_size: int) -> int:
    """How many of torch's threads the operations of a step are divided between on a CPU.

    It depends on the networks and the batch alone, because sums come out with other bits where they are
    divided. Steps on vectors consist of many short operations, however large the networks are.
    """
    return threads_for(_work(vae, batch_size)) if _pictures(vae) else 1


def step_is_long(vae: VAE, batch_size: int) -> bool:
    """Whether the cores can share a batch without spending more on handing it over than they save."""
    return _pictures(vae) and _work(vae, batch_size) >= LEAST_WORK


def step_outweighs_python(vae: VAE, batch_size: int) -> bool:
    """Whether two chains' steps at once, each on a core, are faster than in turn: Python makes them wait."""
    return _work(vae, batch_size) >= (LEAST_PICTURE_WORK if _pictures(vae) else LEAST_WORK)


def _work(vae: VAE, batch_size: int) -> int:
    """Weights that are trained × inputs of a step."""
    return batch_size * sum(p.numel() for p in vae.parameters() if p.requires_grad)


def _pictures(vae: VAE) -> bool:
    return len(vae.input_shape) > 1
