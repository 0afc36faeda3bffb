r"""How much the draws disagree about a latent point, in two forms, each a function of a tile of points.

*Information*: what an output drawn at z tells of which draw made it,

.. math:: D[z] = \sum_d I(x_d; m \mid z)

with one decoding a draw where the places x_d are independent given z. Where they are written one after the
other, each place is given those before it in the sequence that z decodes to under all draws together. Where
a model has no formula for it, it is the spread over draws of the log-likelihoods of a few inputs drawn at z
by fixed noise.

*Expectation*: the paper's, the mean disagreement about the inputs that z decodes to,

.. math:: D[z] = \mathrm E_{p(x|z, \mathcal D)} D[x] \simeq \frac1L \sum_l D[x_l],

whose gradient is that of the expectation: the mean of D[x_l] ∇ log p(x_l|z), less their mean. It is another
one at every seed, where the values jump.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dissensus.likelihood import log_likelihoods
from dissensus.models import LatentModel
from dissensus.posterior import WeightDraws, load_draw
from dissensus.scores import ess_disagreement
from dissensus.seeding import stream_seed

__all__ = ["DisagreementOf", "Expectation", "Information", "models_of", "most_probable"]

TINY = 1e-12

DisagreementOf: TypeAlias = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""From the matrix (M, N) to one number an input (N,)."""


def models_of(model: LatentModel, draws: WeightDraws, device: torch.device) -> list[LatentModel]:
    """A model for each draw, with its weights."""
    found = []
    for draw in range(len(draws)):
        own = copy.deepcopy(model).to(device).requires_grad_(False)
        load_draw(own, draws, draw)
        found.append(own)
    return found


@dataclass(frozen=True)
class Information:
    """What an output tells of its draw; ``inputs`` are drawn at a point only where there is no formula."""

    models: Sequence[LatentModel]
    inputs: int = 4
    seed: int = 0

    def __call__(self, z: Tensor) -> Tensor:
        """(T, Z) → (T,)"""
        last = self.models[-1]
        x = most_probable(self.models, z) if last.in_turn else None
        outputs = [found for model in self.models if (found := model.outputs(z, x)) is not None]
        if len(outputs) == len(self.models):
            return last.information(torch.stack(outputs))
        spreads = []
        for x in drawn_by(self.models, z, self.inputs, self.seed):
            log_p = torch.stack([model.log_prob(x, z) for model in self.models])
            spreads.append((log_p.var(0, correction=0) + TINY).sqrt())  # whose slope at 0 would be infinite
        return torch.stack(spreads).mean(0)


@dataclass(frozen=True)
class Expectation:
    """The paper's form, with L = ``inputs`` and K = ``samples``."""

    model: LatentModel
    draws: WeightDraws
    models: Sequence[LatentModel]
    inputs: int = 32
    samples: int = 16
    seed: int = 0
    score: DisagreementOf = ess_disagreement
    one_a_call: bool = False

    def __call__(self, z: Tensor) -> Tensor:
        """(T, Z) → (T,)"""
        drawn = drawn_by(self.models, z, self.inputs, self.seed)
        matrix = log_likelihoods(
            self.model,
            self.draws,
            torch.cat(drawn),
            samples=self.samples,
            seed=self.seed,
            device=z.device,
            one_a_call=self.one_a_call,
        )
        each = torch.from_numpy(self.score(matrix.values)).to(z.device).view(len(drawn), len(z))
        value = each.mean(0)
        if not z.requires_grad or len(drawn) < 2:
            return value
        surprise = torch.stack([self._log_mixture(x, z) for x in drawn])
        own = ((each - value) * (surprise - surprise.detach())).sum(0) / (len(drawn) - 1)
        return value + own

    def _log_mixture(self, x: Tensor, z: Tensor) -> Tensor:
        """log p(x|z, D) (T,) of an input for each point."""
        log_p = torch.stack([model.log_prob(x, z) for model in self.models])
        return log_p.logsumexp(0) - math.log(len(self.models))


@torch.no_grad()
def most_probable(models: Sequence[LatentModel], z: Tensor) -> Tensor:
    """What points (T, Z) decode to under some draws (T, *S)."""
    return models[-1].together(models, z)


@torch.no_grad()
def drawn_by(models: Sequence[LatentModel], z: Tensor, count: int, seed: int) -> list[Tensor]:
    """``count`` inputs (T, *S) drawn at each point, by as many of the draws as there can be, in turn."""
    chosen = [number * len(models) // count if count < len(models) else number for number in range(count)]
    return [
        models[draw % len(models)].drawn(z, stream_seed(seed, "latent input", number))
        for number, draw in enumerate(chosen)
    ]
