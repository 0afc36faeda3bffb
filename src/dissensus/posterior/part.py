"""One network of a chain (its encoder or its decoder) with the rule that moves it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from dissensus.posterior.adam import Adam
from dissensus.posterior.cyclical import CyclicalSGHMC
from dissensus.posterior.flat import FlatParameters
from dissensus.posterior.potential import Potential
from dissensus.posterior.priors import GammaHyperprior
from dissensus.posterior.settings import Rule
from dissensus.posterior.swag import SWAG
from dissensus.posterior.variational import Variational
from dissensus.posterior.weight_noise import WeightNoise

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
        self.noise: WeightNoise | None = None
        if isinstance(rule, Variational):
            self.noise = WeightNoise(module, self.parameters, log_std=self.state[0])  # the first of its state

    @property
    def weights(self) -> Tensor:
        """The current weights (P,); of a variational fit, their means."""
        return self.parameters.values

    def resample_precision(self, hyperprior: GammaHyperprior, random: np.random.Generator) -> None:
        """The hyperprior's Gibbs step, or for what is fitted its mean; what is optimised has no prior."""
        layout = self.parameters.layout
        if isinstance(self.rule, SWAG):
            self.precision.copy_(hyperprior.expected(self.weights.square(), layout))
        elif isinstance(self.rule, Variational):
            variance = (2 * self.state.log_std).exp()
            self.precision.copy_(hyperprior.expected(self.weights.square() + variance, layout))
        elif self.rule.samples:
            self.precision.copy_(hyperprior.resample(self.weights, layout, random))

    def begin_epoch(self, epoch: int, steps: int) -> None:
        """Sets what is counted by the epoch (from 1), which has ``steps`` steps."""
        self.virial.zero_()
        if isinstance(self.rule, CyclicalSGHMC):
            self.rule.begin_epoch(self.state, epoch, steps)

    def begin_step_(self, generator: torch.Generator, batch_size: int) -> None:
        """Before a forward pass: a variational fit runs its network with noise."""
        if self.noise is not None:
            self.noise.begin_(generator, batch_size)

    def draw_noise(self, generator: torch.Generator) -> Tensor | None:
        """The noise (P,) of a step, for what is sampled."""
        if not self.rule.samples or self.rule.fitted:
            return None
        return torch.empty_like(self.weights).normal_(generator=generator)

    def step_(self, noise: Tensor | None, adapt: bool) -> None:
        """Moves the weights by the gradient that backward has left, and clears it."""
        gradient, weights = self.parameters.gradient, self.weights
        if not weights.numel():  # a network may have nothing to learn
            return
        if isinstance(self.rule, Adam):
            self.rule.step_(self.state, weights, self.potential.mean_gradient_(gradient))
        elif isinstance(self.rule, SWAG):
            self.potential.full_gradient_(gradient, weights, self.precision)
            self.rule.step_(self.state, weights, gradient.div_(self.potential.training_size))
        elif isinstance(self.rule, Variational):
            self._variational_step_(self.rule)
        else:
            self.potential.full_gradient_(gradient, weights, self.precision)
            self.virial.add_(torch.dot(weights, gradient) / weights.numel())
            assert noise is not None
            self.rule.step_(self.state, weights, gradient, noise, adapt)
        gradient.zero_()

    def _variational_step_(self, rule: Variational) -> None:
        assert self.noise is not None
        self.noise.end_()
        gradient, log_std_gradient, N = (
            self.parameters.gradient,
            self.noise.gradient,
            self.potential.training_size,
        )
        variance = (2 * self.state.log_std).exp_()
        self.potential.full_gradient_(gradient, self.weights, self.precision)
        self.potential.full_gradient_(log_std_gradient, variance, self.precision).sub_(1)  # −1: the entropy
        rule.step_(self.state, self.weights, gradient.div_(N), log_std_gradient.div_(N))
        log_std_gradient.zero_()

    def tensors(self) -> dict[str, Tensor]:
        """Everything the next epoch depends on, by name; the values share memory with this part."""
        return {"weights": self.weights, "precision": self.precision, **self.state._asdict()}

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """The inverse of :meth:`tensors`, into the existing memory."""
        for name, own in self.tensors().items():
            own.copy_(tensors[name])
