"""Chains that share what infers: the first learns it, the others are drawn beside it.

Chains that each learn an encoder of their own have latent spaces of their own, in which one point means
different things. Here the first chain's encoder is fixed once it is learnt, and the other chains begin again
with the rest: a point z means the same to all of them, and where there were no data they agree on it by
chance alone.
"""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from dissensus.models import GenerativeModel, Inferred
from dissensus.posterior.draws import PartDraws, WeightDraws, join_draws, load_weights

__all__ = ["FixedInference", "joined_by_inference"]


class FixedInference(GenerativeModel):
    """A model whose inference parts stay as the last draw of a first chain has them."""

    def __init__(self, model: GenerativeModel, first: WeightDraws) -> None:
        super().__init__()
        self.model = copy.deepcopy(model)
        self.fixed = {part: first.weights(part, len(first) - 1) for part in model.inference}
        self.input_shape, self.noise_size = model.input_shape, model.noise_size
        self.capturable = model.capturable  # type: ignore[misc]
        self._fix()

    def _fix(self) -> None:
        for part, weights in self.fixed.items():
            module = self.model.parts()[part].requires_grad_(False)
            load_weights(module, weights)

    @property
    def training_noise_size(self) -> int:
        """As the model itself does."""
        return self.model.training_noise_size

    def parts(self) -> dict[str, torch.nn.Module]:
        """All but those that infer."""
        return {name: part for name, part in self.model.parts().items() if name not in self.fixed}

    def initialise_(self, generator: torch.Generator) -> None:
        """Draws the weights of these parts."""
        self.model.initialise_(generator)
        self._fix()

    def read(self, x: Tensor) -> Tensor:
        """As the model itself does."""
        return self.model.read(x)

    def infer(self, x: Tensor) -> Inferred:
        """The same under all draws."""
        return self.model.infer(x)

    def objective(self, x: Tensor, noise: Tensor) -> Tensor:
        """As the model itself does, (B,)."""
        return self.model.objective(x, noise)

    def log_likelihood(self, x: Tensor, noise: Tensor, inferred: Inferred) -> tuple[Tensor, Tensor]:
        """As the model itself does, two arrays (N,)."""
        return self.model.log_likelihood(x, noise, inferred)

    def tile(self, device: torch.device, samples: int) -> int:
        """As the model itself does."""
        return self.model.tile(device, samples)


def joined_by_inference(first: WeightDraws, others: WeightDraws, model: GenerativeModel) -> WeightDraws:
    """The draws of a first chain and of those drawn beside what it infers by."""
    shared = {}
    for part in model.inference:
        own = first.weights(part, len(first) - 1)
        stacks = {name: tensor[None].clone() for name, tensor in own.items()}
        shared[part] = PartDraws(stacks, np.zeros(len(first) + len(others), np.int64))
    rest = [
        replace(run, parts={name: part for name, part in run.parts.items() if name not in shared})
        for run in (first, others)
    ]
    joined = join_draws(rest)
    return replace(joined, parts={name: (shared | dict(joined.parts))[name] for name in model.parts()})
