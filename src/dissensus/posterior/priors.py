r"""Gaussian priors over the weights, with Gamma hyperpriors over their precisions.

Every tensor k of a network has its own precision: :math:`w_k \sim N(0, \lambda_k^{-1} I)`,
:math:`\lambda_k \sim \Gamma(a_0, b_0)` (shape and rate). The precision is resampled once an epoch from its
exact conditional, a Gibbs step:

.. math:: \lambda_k \mid w_k \sim \Gamma(a_0 + n_k / 2,\; b_0 + \lVert w_k \rVert^2 / 2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from dissensus.errors import SettingsError
from dissensus.posterior.flat import Layout

__all__ = ["GammaHyperprior"]


@dataclass(frozen=True)
class GammaHyperprior:
    """Shape a₀ and rate b₀ of the precisions' prior; the paper takes 1 and 1."""

    shape: float = 1.0
    rate: float = 1.0

    def __post_init__(self) -> None:
        if not (self.shape > 0 and self.rate > 0):
            raise SettingsError(f"the Gamma hyperprior needs a positive shape and rate, got {self}")

    def resample(self, weights: Tensor, layout: Layout, random: np.random.Generator) -> Tensor:
        """One Gibbs step: flat weights (P,) to the precision of each of them (P,), equal within a tensor."""
        squares = [float(part.double().square().sum()) for part in layout.split(weights).values()]
        sizes = np.asarray(layout.sizes, dtype=np.int64)
        # NumPy's gamma takes a scale, the inverse of the rate.
        precisions = random.gamma(self.shape + sizes / 2, 1.0 / (self.rate + np.asarray(squares) / 2))
        per_tensor = torch.as_tensor(precisions, dtype=torch.float32)
        return per_tensor.repeat_interleave(torch.as_tensor(sizes)).to(weights.device)
