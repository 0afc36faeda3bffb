"""One part of a chain's model with the rule that moves it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from dissensus.posterior.flat import FlatParameters
from dissensus.posterior.potential import Potential
from dissensus.posterior.priors import GammaHyperprior
from dissensus.posterior.rules import Rule

__all__ = ["Part"]


class Part:
    """Weights (P,), the state of their rule, and the precisions (P,) of their prior."""

    def __init__(self, module: nn.Module, rule: Rule, potential: Potential) -> None:
        self.parameters = FlatParameters(module)
        self.rule = rule
        self.potential = potential
        self.state: Any = rule.init(self.parameters.values)  # a named tuple of the rule's own kind
        self.precision = torch.zeros_like(self.parameters.values)
        # Σ over the epoch's steps of w·∇U/P, the virial whose mean is the configurational temperature.
        self.virial = torch.zeros((), dtype=torch.float64, device=self.precision.device)
        self.perturbation = rule.perturbation(self.state, module, self.parameters)

    @property
    def weights(self) -> Tensor:
        """The current weights (P,); of a variational fit, their means."""
        return self.parameters.values

    def watch_(self, forward: Callable[[], object]) -> None:
        """Shows the rule, before the first step, how the model runs."""
        if self.perturbation is not None:
            self.perturbation.watch_(forward)

    def resample_precision(self, hyperprior: GammaHyperprior, random: np.random.Generator) -> None:
        """Sets the prior's precisions for the next epoch, as the rule does."""
        found = self.rule.precision(self.state, self.weights, self.parameters.layout, hyperprior, random)
        if found is not None:
            self.precision.copy_(found)

    def begin_epoch(self, epoch: int, steps: int) -> None:
        """Sets what is counted by the epoch (from 1), which has ``steps`` steps."""
        self.virial.zero_()
        self.rule.begin_epoch(self.state, epoch, steps)

    def begin_step_(self, generator: torch.Generator, batch_size: int) -> None:
        """Called before a forward pass."""
        if self.perturbation is not None:
            self.perturbation.begin_(generator, batch_size)

    def draw_noise(self, generator: torch.Generator) -> Tensor:
        """The noise (P,) of a step; empty where the rule takes none."""
        if not self.rule.noisy:
            return self.weights.new_empty(0)
        return torch.empty_like(self.weights).normal_(generator=generator)

    def step_(self, noise: Tensor, adapt: bool) -> None:
        """Moves the weights by the gradient that backward has left, and clears it."""
        gradient, weights = self.parameters.gradient, self.weights
        if not weights.numel():  # a part may have nothing to learn
            return
        if self.perturbation is not None:
            self.perturbation.end_()
        self.rule.scale_(self.state, weights, gradient, self.precision, self.potential)
        if self.rule.noisy:
            self.virial.add_(torch.dot(weights, gradient) / weights.numel())
        self.rule.step_(self.state, weights, gradient, noise, adapt)
        gradient.zero_()

    def tensors(self) -> dict[str, Tensor]:
        """Everything the next epoch depends on, by name; the values share memory with this part."""
        return {"weights": self.weights, "precision": self.precision, **self.state._asdict()}

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """The inverse of :meth:`tensors`, into the existing memory."""
        for name, own in self.tensors().items():
            own.copy_(tensors[name])
