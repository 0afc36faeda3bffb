"""The draws: what a run of the sampler leaves behind and every later stage reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from dissensus.errors import DataError
from dissensus.models import GenerativeModel
from dissensus.posterior.diagnostics import Diagnostics

__all__ = ["PartDraws", "Watched", "WeightDraws", "join_draws", "load_draw", "load_weights"]

Watched: TypeAlias = Mapping[tuple[int, int], NDArray[np.float64]]
"""Held-out log-likelihoods (n,) by chain and kept epoch, to compare the chains by."""


@dataclass(frozen=True)
class PartDraws:
    """The weights of one part of a model under M draws.

    ``stacks`` maps each parameter's name to E values (E, ...), and draw m has those at ``of[m]``. A part that
    is sampled has E = M; one that is optimised has as many as there are chains, which their draws share.
    """

    stacks: Mapping[str, Tensor]
    of: NDArray[np.int64]

    def weights(self, number: int) -> dict[str, Tensor]:
        """The weights at one place of the stacks, by parameter name."""
        return {name: stack[number] for name, stack in self.stacks.items()}

    def select(self, draws: NDArray[np.int64]) -> PartDraws:
        """Some of the draws, in the given order."""
        used, of = np.unique(self.of[draws], return_inverse=True)
        kept = torch.from_numpy(used)
        return PartDraws({name: stack[kept] for name, stack in self.stacks.items()}, of.astype(np.int64))


@dataclass(frozen=True)
class WeightDraws:
    """M draws of a model's weights, part by part, with the chain and the epoch that each comes from."""

    parts: Mapping[str, PartDraws]
    chain: NDArray[np.int64]
    """(M,)"""
    epoch: NDArray[np.int64]
    """(M,), counted from 1."""
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    watched: Watched = field(default_factory=dict)
    """Of a run that has just ended; no gate keeps it."""

    def __len__(self) -> int:
        return len(self.chain)

    def weights(self, part: str, draw: int) -> dict[str, Tensor]:
        """The weights of one part under one draw, by parameter name."""
        own = self.parts[part]
        return own.weights(int(own.of[draw]))

    def sharing(self, parts: Sequence[str]) -> Iterator[NDArray[np.int64]]:
        """Groups of draws that have the weights of ``parts`` in common.

        What depends on these parts alone is then computed once for a whole group. Without parts, all draws
        are one group.
        """
        key = tuple(parts)
        if key not in self._groups:
            self._groups[key] = list(self._shared(key))
        yield from self._groups[key]

    @cached_property
    def _groups(self) -> dict[tuple[str, ...], list[NDArray[np.int64]]]:
        """Found once: of a single input it would take a tenth of the time to find them anew."""
        return {}

    def _shared(self, parts: tuple[str, ...]) -> Iterator[NDArray[np.int64]]:
        if not parts:
            yield np.arange(len(self))
            return
        keys = np.stack([self.parts[part].of for part in parts])
        _, group = np.unique(keys, axis=1, return_inverse=True)
        for number in range(int(group.max()) + 1 if len(self) else 0):
            yield np.flatnonzero(group == number)

    def select(self, draws: NDArray[np.int64]) -> WeightDraws:
        """Some of the draws, in the given order."""
        draws = np.asarray(draws, dtype=np.int64)
        return WeightDraws(
            {name: part.select(draws) for name, part in self.parts.items()},
            self.chain[draws],
            self.epoch[draws],
            self.diagnostics,
            self.watched,
        )


def join_draws(runs: Sequence[WeightDraws]) -> WeightDraws:
    """Join the draws of several runs of one model to those of one run.

    The runs must have sampled different chains, as runs with other values of ``first_chain`` do. Their
    reports, restarts and scales are joined too. R̂ and the effective sample size are dropped: between
    different runs they are not known.
    """
    if not runs:
        raise DataError("there are no draws to join: give at least one run")
    described = [
        {part: {name: s.shape[1:] for name, s in own.stacks.items()} for part, own in run.parts.items()}
        for run in runs
    ]
    if any(shapes != described[0] for shapes in described):
        raise DataError("the draws are of different models: join runs of one model only")
    chains = [set(run.chain.tolist()) for run in runs]
    if sum(map(len, chains)) > len(set().union(*chains)):
        raise DataError(
            "two runs hold the same chain: give each run chains of its own by another first_chain, so that "
            "none of them is counted twice"
        )
    parts = {}
    for name in runs[0].parts:
        own = [run.parts[name] for run in runs]
        sizes = [len(next(iter(part.stacks.values()), part.of)) for part in own]
        starts = np.cumsum([0, *sizes[:-1]])
        parts[name] = PartDraws(
            {key: torch.cat([part.stacks[key] for part in own]) for key in own[0].stacks},
            np.concatenate([part.of + start for part, start in zip(own, starts, strict=True)]),
        )
    diagnostics = Diagnostics(
        tuple(report for run in runs for report in run.diagnostics.reports),
        {},
        None,
        {chain: tuned for run in runs for chain, tuned in run.diagnostics.tuned.items()},
        tuple(restart for run in runs for restart in run.diagnostics.restarts),
    )
    chain, epoch = (np.concatenate([getattr(run, key) for run in runs]) for key in ("chain", "epoch"))
    return WeightDraws(parts, chain, epoch, diagnostics)


def load_draw(model: GenerativeModel, draws: WeightDraws, draw: int) -> None:
    """Copies the weights of one draw into a model's own memory."""
    for part, module in model.parts().items():
        load_weights(module, draws.weights(part, draw))


def load_weights(module: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Copies named weights into a module's own memory."""
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if name in weights:
                parameter.copy_(weights[name])
