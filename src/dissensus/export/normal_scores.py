r"""The normal distribution's logarithms by operations that every ONNX runtime has in float64.

The complementary error function is the approximation of Press et al., *Numerical Recipes*, 1992, whose
relative error is below 1.2e-7 everywhere,

.. math:: \log \operatorname{erfc}(z) ≈ \log t - z^2 + \sum_i c_i t^i, \qquad t = 1/(1 + z/2), z ≥ 0,

and its inverse is found by Newton's method from the first terms of its expansion far out.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

__all__ = ["log_tail", "tail_score"]

_ERFC = (
    -1.26551223,
    1.00002368,
    0.37409196,
    0.09678418,
    -0.18628806,
    0.27886807,
    -1.13520398,
    1.48851587,
    -0.82215223,
    0.17087277,
)
_NEWTON_STEPS = 4  # reach the approximation's own precision from the start below


def log_tail(z: Tensor) -> Tensor:
    """log P(a standard normal number exceeds z), of any shape, in float64."""
    u = z.abs() / math.sqrt(2)
    beyond = _log_erfc(u) - math.log(2)
    return torch.where(z >= 0, beyond, torch.log(1 - torch.exp(beyond)))


def tail_score(log_p: Tensor) -> Tensor:
    """The z with log P(Z > z) = log_p, for log_p ≤ −1: the inverse of :func:`log_tail`."""
    twice = -2 * log_p - math.log(2 * math.pi)
    z = torch.sqrt(torch.clamp(twice - torch.log(torch.clamp(twice, min=0.5)), min=0.25))
    for _ in range(_NEWTON_STEPS):
        found = log_tail(z)
        # d/dz log P(Z > z) = −φ(z)/P(Z > z)
        slope = torch.exp(-0.5 * z * z - 0.5 * math.log(2 * math.pi) - found)
        z = z + (found - log_p) / slope
    return z


def _log_erfc(z: Tensor) -> Tensor:
    """Of z ≥ 0."""
    t = 1 / (1 + 0.5 * z)
    total = t * _ERFC[-1]
    for coefficient in reversed(_ERFC[1:-1]):
        total = t * (coefficient + total)
    return torch.log(t) - z * z + _ERFC[0] + total
