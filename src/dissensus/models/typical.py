r"""Is a code a draw from the law it should have? The goodness of fit over its dimensions.

With u_(1) ≤ … ≤ u_(D) the numbers of a code through their own distribution function, and so uniform under the
model,

.. math:: W^2 = \frac{1}{12 D} + \sum_i \Big( \frac{2i - 1}{2D} - u_{(i)} \Big)^2

is the distance of Cramér and von Mises. It looks at all quantiles: a code may have the right length and yet
be one that the prior never gives.
"""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["misfit", "normal_misfit"]


def misfit(uniforms: Tensor) -> Tensor:
    """log W² (N,) in float64, of numbers (N, D) in [0, 1].

    >>> even, heaped = (torch.arange(100) + 0.5) / 100, torch.full((100,), 0.5)
    >>> misfit(torch.stack([even, heaped])).exp().round(decimals=4).tolist()
    [0.0008, 8.3333]
    """
    count = uniforms.shape[1]
    ordered = uniforms.sort(dim=1).values.double()
    expected = (torch.arange(count, dtype=torch.float64, device=uniforms.device) + 0.5) / count
    return ((expected - ordered).square().sum(1) + 1 / (12 * count)).log()


def normal_misfit(code: Tensor) -> Tensor:
    """The same (N,) of a code (N, Z) that should be standard normal."""
    return misfit(0.5 * (1 + torch.erf(code / 2**0.5)))
