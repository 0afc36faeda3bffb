r"""The preconditioner that the samplers share: a running estimate of each gradient's size.

.. math::
    \rho = 1 / (\tau + 1), \quad
    \tau \leftarrow \tau + 1 - \tau g^2 / (V + \delta), \quad
    g \leftarrow g + \rho (G - g), \quad
    V \leftarrow V + \rho (G^2 - V)

and :math:`m = 1 / (\sqrt V + \delta)`. It is adapted during burn-in and then frozen: a sampler whose scales
go on following the gradients is no Markov chain.
"""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["adapt_scale_", "inverse_scale"]


def adapt_scale_(tau: Tensor, g: Tensor, V: Tensor, gradient: Tensor, floor: float) -> None:
    """One update of memory τ, mean gradient g and mean square V in place, all (P,); V never falls below δ."""
    longer = tau + 1
    torch.addcdiv(longer, g.square().mul_(tau), V + floor, value=-1, out=tau)
    rho = longer.reciprocal_()
    g.lerp_(gradient, rho)
    V.lerp_(gradient.square(), rho).clamp_(min=floor)


def inverse_scale(V: Tensor, floor: float) -> Tensor:
    """m = 1/(√V + δ), the preconditioner (P,)."""
    return V.sqrt().add_(floor).reciprocal_()
