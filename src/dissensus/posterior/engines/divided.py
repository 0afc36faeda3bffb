"""One chain on several cores of a CPU: they divide every batch between them, instead of every operation.

The cores then meet twice a step and not at the end of each of its operations. On an idle machine that is no
more than a tenth faster; where other programs run as well, and somebody is always late, it is two to three
times. A batch has the same shares however many cores there are (:func:`dissensus.posterior.step_work.
batch_shares`), each is computed by one thread, and their gradients are added in one order: a chain walks to
the same bits alone, beside others, and on any number of cores.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from torch import Tensor

from dissensus.posterior.chain import Chain, StepNoise
from dissensus.posterior.flat import FlatParameters
from dissensus.torch_threads import set_own_threads, torch_threads, usable_threads

__all__ = ["DividedChain", "DividedEngine"]


class DividedEngine:
    """One chain after the other, each on all cores."""

    def __init__(self, chains: Sequence[Chain]) -> None:
        self.chains = [DividedChain(chain, usable_threads()) for chain in chains]

    @staticmethod
    def pays(chains: Sequence[Chain]) -> bool:
        """Whether there are cores, and shares of a batch, to divide."""
        return min(usable_threads(), chains[0].shares) > 1

    def run_epoch(self, epoch: int) -> Tensor:
        """Epoch t of all chains; the steps' mean objectives (C, steps)."""
        with torch_threads(1):
            return torch.stack([torch.stack(list(chain.steps(epoch))) for chain in self.chains])


class DividedChain:
    """A chain on so many cores: it takes the first shares of a batch itself, copies of it the others."""

    def __init__(self, chain: Chain, cores: int) -> None:
        self.chain = chain
        first, *others = np.array_split(np.arange(chain.shares), min(cores, chain.shares))
        self.own = len(first)
        """How many shares the chain itself takes, one after the other."""
        self.copies = [[_Copy(chain) for _ in shares] for shares in others]
        """For each helping thread, a copy for each of its shares."""

    def steps(self, epoch: int) -> Iterator[Tensor]:
        """The mean objective of one step of an epoch after the other; in a thread that has one of torch's."""
        order = self.chain.begin_epoch(epoch)
        if not self.copies:
            yield from map(self.chain.step, order)
            return
        with ThreadPoolExecutor(len(self.copies), initializer=set_own_threads, initargs=(1,)) as helpers:
            noise = self.chain.draw_noise(self.chain.batch_size)
            for rows in order:
                objective, noise = self._step(rows, noise, helpers)
                yield objective

    def _step(self, rows: Tensor, noise: StepNoise, helpers: ThreadPoolExecutor) -> tuple[Tensor, StepNoise]:
        """What :meth:`Chain.step` does; returns the mean objective, and the next step's noise."""
        chain = self.chain
        shares = list(chain.divided(rows, noise.objective))
        waiting, start = [], self.own
        for copies in self.copies:
            theirs = shares[start : start + len(copies)]
            waiting.append(helpers.submit(_backward, copies, theirs))
            start += len(copies)
        found = [chain.backward(*share) for share in shares[: self.own]]
        found += [objective for one in waiting for objective in one.result()]
        *others, last = chain.order

        def move_others_and_draw() -> StepNoise:
            for name in others:
                self._move(name, noise)
            return chain.draw_noise(chain.batch_size)

        # Of what remains, the last part's step takes about as long as all the rest.
        rest = helpers.submit(move_others_and_draw)
        self._move(last, noise)
        return torch.cat(found).mean(), rest.result()

    def _move(self, name: str, noise: StepNoise) -> None:
        """Adds the copies' gradients of one part to the chain's own, share by share, and takes its step."""
        for copies in self.copies:
            for one in copies:
                one.hand_over_(name)
        self.chain.parts[name].step_(noise.parts[name], self.chain.adapt)


class _Copy:
    """A chain's model once more: the same weights, in the same memory, and gradients of its own."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.model = copy.deepcopy(chain.model)
        modules = self.model.parts()
        self.parameters = {
            name: FlatParameters(modules[name], part.weights) for name, part in chain.parts.items()
        }

    def backward(self, rows: Tensor, noise: Tensor) -> Tensor:
        """The objective of each of the rows (n,); leaves its gradient here."""
        return self.chain.backward(rows, noise, self.model)

    def hand_over_(self, name: str) -> None:
        """Adds the gradient of one part to the chain's own."""
        gradient = self.parameters[name].gradient
        self.chain.parts[name].parameters.gradient.add_(gradient)
        gradient.zero_()


def _backward(copies: Sequence[_Copy], shares: Sequence[tuple[Tensor, Tensor]]) -> list[Tensor]:
    return [one.backward(*share) for one, share in zip(copies, shares, strict=True)]
