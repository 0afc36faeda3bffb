"""Families of flows: which monotone functions move the columns, and which columns choose them.

The functions are zuko's (https://github.com/probabilists/zuko). A new family is a class here and a line in
:mod:`dissensus.models.registry`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.distributions import Distribution

from dissensus.models.flow.model import Flow

__all__ = ["MAF", "NSF", "RealNVP"]

BINS = 8
# Rows are blurred by a twentieth of a deviation, and so no column needs a steeper slope than 20. With more a
# draw would reject what lies where it has seen little by thousands of nats: of the 1/1000 that is zuko's own,
# held-out likelihoods are lower.
LEAST_SLOPE = 0.05


@cache
def _zuko() -> Any:
    """Return zuko's transforms, imported when the first flow runs.

    To import zuko switches off the checks of arguments of all distributions, in whoever's code: they are
    switched on again.
    """
    checked = Distribution._validate_args
    from zuko import transforms

    Distribution.set_default_validate_args(checked)
    return transforms


class MAF(Flow):
    """Masked autoregressive flow (Papamakarios et al., 2017): each column is shifted and scaled."""

    sizes = (1, 1)
    draws_at_once = 4  # as many as are recommended: a group of more would be filled up

    def moved(self, x: Tensor, *parameters: Tensor) -> tuple[Tensor, Tensor]:
        """x·exp(a) + b, with slopes between 1/20 and 20."""
        shift, scale = (each.squeeze(-1) for each in parameters)
        own = _zuko().MonotonicAffineTransform(shift, scale, slope=LEAST_SLOPE)
        found: tuple[Tensor, Tensor] = own.call_and_ladj(x)
        return found


class RealNVP(MAF):
    """Affine coupling (Dinh et al., 2017): each half of the columns is shifted and scaled by the other."""

    def places(self, columns: int, number: int) -> tuple[Tensor, int]:
        """Every second column comes first, in turn the even and the odd ones."""
        return (torch.arange(columns) + number) % 2, 1


class NSF(Flow):
    """Neural spline flow (Durkan et al., 2019): splines within five deviations, the identity outside."""

    sizes = (BINS, BINS, BINS - 1)
    draws_at_once = 4

    def tile(self, device: torch.device, samples: int) -> int:  # noqa: ARG002
        """Few rows, as a single one pays for a whole tile."""
        return 32 if device.type == "cpu" else 4096

    def moved(self, x: Tensor, *parameters: Tensor) -> tuple[Tensor, Tensor]:
        """Monotone rational-quadratic splines of eight bins."""
        found: tuple[Tensor, Tensor] = _zuko().MonotonicRQSTransform(*parameters).call_and_ladj(x)
        return found
