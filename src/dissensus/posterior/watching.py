"""What chains are watched by after each epoch: whether they ran away, and how they explain held-out inputs.

On a CPU each chain is looked at in a thread of its own, as its steps are run. To divide each operation
between the cores instead takes half of a fit where other programs want the cores too: each operation then
waits for whoever is late.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from torch import Tensor

from dissensus.posterior.chain import Chain
from dissensus.posterior.divergence import what_diverged
from dissensus.side_by_side import side_by_side
from dissensus.torch_threads import usable_threads

__all__ = ["HeldOut", "Seen", "watch", "watch_all"]


class HeldOut(NamedTuple):
    """Inputs that no chain learns from, and the noise that their log-likelihoods are sampled with."""

    inputs: Tensor
    """(n, *S)"""
    noise: Tensor
    """(K, noise_size)"""


class Seen(NamedTuple):
    """What was seen of a chain after an epoch."""

    wrong: str | None
    """How it ran away, to follow "chain 3"."""
    log_likelihood: Tensor | None
    """log p(x) of the held-out inputs (n,); None without them, and of a chain that ran away."""


def watch(chain: Chain, epoch: int, steps: Tensor, start: float, held_out: HeldOut | None) -> Seen:
    """Look at a chain after an epoch.

    ``steps`` are the mean objectives of its steps, ``start`` is its noiseless objective before the first.
    """
    wrong = what_diverged(chain, epoch, steps, start)
    if wrong is not None or held_out is None or not len(held_out.inputs):
        return Seen(wrong, None)
    return Seen(None, chain.held_out_log_likelihood(*held_out).cpu())


def watch_all(
    chains: Sequence[Chain],
    epoch: int,
    trace: Tensor,
    starts: Mapping[int, float],
    held_out: HeldOut | None,
    *,
    threads: int,
) -> list[Seen]:
    """Look at all chains after an epoch, whose steps had the mean objectives ``trace`` (C, steps).

    ``starts`` are their noiseless objectives before the first step, by number; ``threads`` is how many of
    torch's threads are worth having.
    """
    seen: dict[int, Seen] = {}
    workers = min(len(chains), threads, usable_threads())

    def looks(first: int) -> Iterator[tuple[int, Seen]]:
        for place in range(first, len(chains), workers):
            chain = chains[place]
            yield place, watch(chain, epoch, trace[place], starts[chain.index], held_out)

    if workers < 2 or chains[0].data.is_cuda:
        workers = 1
        seen.update(looks(0))
    else:
        seen.update(side_by_side([looks(first) for first in range(workers)], threads=1))
    return [seen[place] for place in range(len(chains))]
