r"""The density of the noise that a flow maps rows to, for each column by itself.

Student's t with ν degrees of freedom up to a distance L, and from there on a straight line with the slope
that it has there,

.. math:: \log b(z) = c - \frac{\nu + 1}{2} \log\Big(1 + \frac{\min(|z|, L)^2}{\nu}\Big)
          - s\,(|z| - L)_+, \qquad s = \frac{(\nu + 1) L}{\nu + L^2}.

Columns of real tables have values far out, each of which a normal law would believe at the cost of all
others. Beyond everything that was seen, log p falls in proportion to the distance, and so does what
different draws make of it.
"""

from __future__ import annotations

import math
from functools import cache

import torch
from scipy.special import stdtr
from torch import Tensor

__all__ = ["log_base"]

LINEAR = 100.0  # L: further out than training values lie, in columns of heavy tails too


def log_base(z: Tensor, degrees_of_freedom: float | None) -> Tensor:
    """Return log b(z), element by element; that of a standard normal where the degrees of freedom are None.

    >>> round(math.exp(log_base(torch.zeros(()), None)), 4)
    0.3989
    """
    if degrees_of_freedom is None:
        return -0.5 * z.square() - 0.5 * math.log(2 * math.pi)
    nu, constant, slope = degrees_of_freedom, *_constants(degrees_of_freedom)
    distance = z.abs()
    near = distance.clamp(max=LINEAR)
    return constant - (nu + 1) / 2 * torch.log1p(near.square() / nu) - slope * (distance - near)


@cache
def _constants(nu: float) -> tuple[float, float]:
    """c, by which b integrates to one, and s."""
    slope = (nu + 1) * LINEAR / (nu + LINEAR**2)
    of_t = math.lgamma((nu + 1) / 2) - math.lgamma(nu / 2) - 0.5 * math.log(nu * math.pi)
    outside = of_t - (nu + 1) / 2 * math.log1p(LINEAR**2 / nu)
    mass = 1 - 2 * float(stdtr(nu, -LINEAR)) + 2 * math.exp(outside) / slope
    return of_t - math.log(mass), slope
