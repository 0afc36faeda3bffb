"""How much there is to do in a step of a chain, and between how many cores it is worth dividing."""

from __future__ import annotations

from dissensus.models import GenerativeModel
from dissensus.torch_threads import LEAST_WORK, threads_for

__all__ = ["batch_shares", "step_outweighs_python", "watching_threads"]

LEAST_PICTURE_WORK = 1_000_000  # weights × pictures; convolutions use each weight many times
# Of a batch of much work. Each brings a gradient to be added to the others, and smaller batches are less work
# a call: with four of them, a step of two chains on two cores takes a tenth longer.
SHARES = 2


def batch_shares(model: GenerativeModel, batch_size: int) -> int:
    """How many shares a batch is computed in on a CPU, whoever computes them.

    It depends on the networks and the batch alone, neither on the cores nor on other chains, because sums
    come out with other bits where they are divided otherwise. Short steps, and those on vectors, which
    consist of many short operations, are not divided: handing over would take longer than it saves.
    """
    long = model.reads_pictures and _work(model, batch_size) >= LEAST_WORK
    return SHARES if long and batch_size >= SHARES else 1


def step_outweighs_python(model: GenerativeModel, batch_size: int) -> bool:
    """Whether two chains' steps at once, each on a core, are faster than in turn: Python makes them wait."""
    return _work(model, batch_size) >= (LEAST_PICTURE_WORK if model.reads_pictures else LEAST_WORK)


def watching_threads(model: GenerativeModel, batch_size: int) -> int:
    """How many of torch's threads the operations beside the steps are divided between on a CPU."""
    return threads_for(_work(model, batch_size)) if model.reads_pictures else 1


def _work(model: GenerativeModel, batch_size: int) -> int:
    """Weights that are trained × inputs of a step."""
    return batch_size * sum(p.numel() for p in model.parameters() if p.requires_grad)
