"""One chain on several cores of a CPU: they divide every batch between them, instead of every operation.

The cores then meet twice a step and not at the end of each of its operations. On an idle machine that is no
more than a tenth faster; where other programs run as well, and somebody is always late, it is two to three
times.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import torch
from torch import Tensor

from dissensus.posterior.chain import Chain, StepNoise
from dissensus.posterior.flat import FlatParameters
from dissensus.posterior.step_work import step_is_long
from dissensus.posterior.variational import Variational
from dissensus.torch_threads import set_own_threads, torch_threads, usable_threads

__all__ = ["DividedEngine"]

MOST_SHARES = 4  # of a batch: each brings a gradient to be added to the others


class DividedEngine:
    """One chain after the other; of each batch the chain itself takes a share, copies of it the others."""

    def __init__(self, chains: Sequence[Chain]) -> None:
        self.chains = chains
        self.copies = [[_Copy(chain) for _ in range(_shares() - 1)] for chain in chains]

    @staticmethod
    def pays(chains: Sequence[Chain]) -> bool:
        """Whether there are cores and there is work enough, and a batch's share needs nothing but itself.

        Of short steps, handing over would take longer than it saves.
        """
        first = chains[0]
        return (
            1 < _shares() <= first.batch_size
            and step_is_long(first.vae, first.batch_size)
            and not any(isinstance(part.rule, Variational) for part in first.parts.values())
            and next(first.vae.buffers(), None) is None
        )

    def run_epoch(self, epoch: int) -> Tensor:
        """Epoch t of all chains; the steps' mean ELBOs (C, steps)."""
        with _workers(len(self.copies[0])) as workers:
            return torch.stack(
                [
                    torch.stack(list(_steps(chain, copies, chain.begin_epoch(epoch), workers)))
                    for chain, copies in zip(self.chains, self.copies, strict=True)
                ]
            )


class _Copy:
    """A chain's networks once more: the same weights, in the same memory, and gradients of their own."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.vae = copy.deepcopy(chain.vae)
        self.parameters = {
            name: FlatParameters(self.vae.get_submodule(name), part.weights)
            for name, part in chain.parts.items()
        }

    def backward(self, rows: Tensor, noise: Tensor) -> Tensor:
        """The ELBO of each of the rows (n,); leaves its gradient here."""
        return self.chain.backward(rows, noise, self.vae)

    def hand_over_(self, name: str) -> None:
        """Adds the gradient of one network to the chain's own."""
        gradient = self.parameters[name].gradient
        self.chain.parts[name].parameters.gradient.add_(gradient)
        gradient.zero_()


def _steps(
    chain: Chain, copies: Sequence[_Copy], order: Tensor, workers: ThreadPoolExecutor
) -> Iterator[Tensor]:
    """What :meth:`Chain.step` does, for one batch (B,) of row numbers after the other."""
    shares = len(copies) + 1
    noise = chain.draw_noise(chain.batch_size)

    def move(name: str, own: Tensor | None) -> None:
        for one in copies:
            one.hand_over_(name)
        chain.parts[name].step_(own, chain.adapt)

    def move_encoder_and_draw(own: Tensor | None) -> StepNoise:
        move("encoder", own)
        return chain.draw_noise(chain.batch_size)

    for rows in order:
        first, *others = zip(rows.tensor_split(shares), noise.latent.tensor_split(shares), strict=True)
        waiting = [workers.submit(one.backward, *share) for one, share in zip(copies, others, strict=True)]
        elbo = torch.cat([chain.backward(*first), *(share.result() for share in waiting)])
        # Of what remains, the decoder's step takes about as long as all the rest.
        rest = workers.submit(move_encoder_and_draw, noise.encoder)
        move("decoder", noise.decoder)
        noise = rest.result()
        yield elbo.mean()


def _shares() -> int:
    return min(usable_threads(), MOST_SHARES)


@contextmanager
def _workers(count: int) -> Iterator[ThreadPoolExecutor]:
    """Threads beside this one; torch's own threads are divided between all of them meanwhile."""
    threads = max(1, usable_threads() // (count + 1))
    with (
        ThreadPoolExecutor(count, initializer=set_own_threads, initargs=(threads,)) as workers,
        torch_threads(threads),
    ):
        yield workers
