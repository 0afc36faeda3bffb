r"""Gaussian priors over the weights, with Gamma hyperpriors over their precisions.

Every tensor k of a network has its own precision: :math:`w_k \sim N(0, \lambda_k^{-1} I)`,
:math:`\lambda_k \sim \Gamma(a_0, b_0)` (shape and rate). The precision is resampled once an epoch from its
exact conditional, a Gibbs step. At temperature T weights and precisions together have the density
:math:`p(w, \lambda)^{1/T}`, of which the conditional is

.. math::
    \lambda_k \mid w_k \sim
    \Gamma\big((a_0 - 1 + n_k / 2) / T + 1,\; (b_0 + \lVert w_k \rVert^2 / 2) / T\big),

for T = 1 the familiar :math:`\Gamma(a_0 + n_k / 2,\; b_0 + \lVert w_k \rVert^2 / 2)`. With ``per_part`` k
counts the parts of a model instead, such as decoder and encoder: all weights of a part share one precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dissensus.errors import SettingsError
from dissensus.posterior.flat import Layout

__all__ = ["GammaHyperprior"]


@dataclass(frozen=True)
class GammaHyperprior:
    """Shape a₀ and rate b₀ of the precisions' prior; the paper takes 1 and 1."""

    shape: float = 1.0
    rate: float = 1.0
    per_part: bool = False
    """One precision for all weights of a part, as the paper writes its priors; else one for each tensor."""

    def __post_init__(self) -> None:
        if not (self.shape > 0 and self.rate > 0):
            raise SettingsError(f"the Gamma hyperprior needs a positive shape and rate, got {self}")

    def at(self, temperature: float) -> GammaHyperprior:
        """The same prior for a chain of this temperature."""
        return self if temperature == 1 else _Tempered(self.shape, self.rate, self.per_part, temperature)

    def describe(self) -> dict[str, Any]:
        """Everything above as plain values; one precision a tensor is what is not said."""
        described = {"shape": self.shape, "rate": self.rate}
        return {**described, "per_part": True} if self.per_part else described

    def resample(self, weights: Tensor, layout: Layout, random: np.random.Generator) -> Tensor:
        """One Gibbs step: flat weights (P,) to the precision of each of them (P,), equal where shared."""
        groups = self._groups(layout)
        shapes, rates = self._conditional([each.double().square() for each in _pieces(weights, groups)])
        # NumPy's gamma takes a scale, the inverse of the rate.
        return _per_weight(random.gamma(shapes, 1.0 / rates), groups, weights.device)

    def expected(self, second_moment: Tensor, layout: Layout) -> Tensor:
        """The precisions' mean (P,) where only E[w²] (P,) of the weights is known, as for a fitted Gaussian.

        The best Gamma for λ then has the conditional's form with E‖w‖² in place of ‖w‖².
        """
        groups = self._groups(layout)
        shapes, rates = self._conditional([each.double() for each in _pieces(second_moment, groups)])
        return _per_weight(shapes / rates, groups, second_moment.device)

    def _groups(self, layout: Layout) -> tuple[int, ...]:
        """How many weights share a precision, in the order in which they lie."""
        if self.per_part and layout.sizes:
            return (sum(layout.sizes),)
        return layout.sizes

    def _conditional(self, squares: Sequence[Tensor]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Shape and rate for each group of weights, whose squares are given."""
        if not squares:
            return np.empty(0), np.empty(0)
        # All sums leave the device together: to wait for each in turn takes as long as ten training steps.
        sums = torch.stack([each.sum() for each in squares]).cpu().numpy()
        sizes = np.asarray([each.numel() for each in squares], dtype=np.int64)
        return self._tempered(self.shape + sizes / 2, self.rate + sums / 2)

    def _tempered(
        self, shapes: NDArray[np.float64], rates: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return shapes, rates


@dataclass(frozen=True)
class _Tempered(GammaHyperprior):
    """The hyperprior of a chain whose potential is divided by a temperature."""

    temperature: float = 1.0

    def _tempered(
        self, shapes: NDArray[np.float64], rates: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return (shapes - 1) / self.temperature + 1, rates / self.temperature


def _pieces(flat: Tensor, groups: Sequence[int]) -> list[Tensor]:
    return list(torch.split(flat, list(groups))) if groups else []


def _per_weight(precisions: NDArray[np.float64], groups: Sequence[int], device: torch.device) -> Tensor:
    per_group = torch.as_tensor(precisions, dtype=torch.float32, device=device)
    sizes = torch.as_tensor(groups, dtype=torch.int64, device=device)
    return per_group.repeat_interleave(sizes, output_size=sum(groups))
