"""One network of a chain (its encoder or its decoder) with the rule that moves it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor, nn

from dissensus.posterior.adam import Adam, AdamState
from dissensus.posterior.flat import FlatParameters
from dissensus.posterior.potential import Potential
from dissensus.posterior.priors import GammaHyperprior
from dissensus.posterior.settings import Rule
from dissensus.posterior.sghmc import SGHMC, SGHMCState

__all__ = ["Part"]


class Part:
    """Weights (P,), the state of their rule, and the precisions (P,) of their prior."""

    def __init__(self, module: nn.Module, rule: Rule, potential: Potential) -> None:
        self.parameters = FlatParameters(module)
        self.rule = rule
        self.potential = potential
        self.state: SGHMCState | AdamState = rule.init(self.parameters.values)
        self.precision = torch.zeros_like(self.parameters.values)
        # Σ over the epoch's steps of w·∇U/P, the virial whose mean is the configurational temperature.
        self.virial = torch.zeros((), dtype=torch.float64, device=self.precision.device)

    @property
    def weights(self) -> Tensor:
        """The current weights (P,)."""
        return self.parameters.values

    def resample_precision(self, hyperprior: GammaHyperprior, random: np.random.Generator) -> None:
        """The Gibbs step of the hyperprior; what is optimised has no prior."""
        if self.rule.samples:
            self.precision.copy_(hyperprior.resample(self.weights, self.parameters.layout, random))

    def step_(self, generator: torch.Generator, adapt: bool) -> None:
        """Moves the weights by the gradient that backward has left, and clears it."""
        gradient, weights = self.parameters.gradient, self.weights
        if not weights.numel():  # a network may have nothing to learn
            return
        if isinstance(self.rule, SGHMC):
            assert isinstance(self.state, SGHMCState)
            self.potential.full_gradient_(gradient, weights, self.precision)
            self.virial.add_(torch.dot(weights, gradient) / weights.numel())
            noise = torch.empty_like(weights).normal_(generator=generator)
            self.rule.step_(self.state, weights, gradient, noise, adapt)
        elif isinstance(self.rule, Adam):
            assert isinstance(self.state, AdamState)
            self.rule.step_(self.state, weights, self.potential.mean_gradient_(gradient))
        gradient.zero_()

    def tensors(self) -> dict[str, Tensor]:
        """Everything the next epoch depends on, by name; the values share memory with this part."""
        return {"weights": self.weights, "precision": self.precision, **self.state._asdict()}

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """The inverse of :meth:`tensors`, into the existing memory."""
        for name, own in self.tensors().items():
            own.copy_(tensors[name])
