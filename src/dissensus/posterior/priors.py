r"""Gaussian priors over the weights, with Gamma hyperpriors over their precisions.

Every tensor k of a network has its own precision: :math:`w_k \sim N(0, \lambda_k^{-1} I)`,
:math:`\lambda_k \sim \Gamma(a_0, b_0)` (shape and rate). The precision is resampled once an epoch from its
exact conditional, a Gibbs step. At temperature T weights and precisions together have the density
:math:`p(w, \lambda)^{1/T}`, of which the conditional is

.. math::
    \lambda_k \mid w_k \sim
    \Gamma\big((a_0 - 1 + n_k / 2) / T + 1,\; (b_0 + \lVert w_k \rVert^2 / 2) / T\big),

for T = 1 the familiar :math:`\Gamma(a_0 + n_k / 2,\; b_0 + \lVert w_k \rVert^2 / 2)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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

    def __post_init__(self) -> None:
        if not (self.shape > 0 and self.rate > 0):
            raise SettingsError(f"the Gamma hyperprior needs a positive shape and rate, got {self}")

    def at(self, temperature: float) -> GammaHyperprior:
        """The same prior for a chain of this temperature."""
        return self if temperature == 1 else _Tempered(self.shape, self.rate, temperature)

    def resample(self, weights: Tensor, layout: Layout, random: np.random.Generator) -> Tensor:
        """One Gibbs step: flat weights (P,) to the precision of each of them (P,), equal within a tensor."""
        shapes, rates = self._conditional([part.double().square() for part in _tensors(weights, layout)])
        # NumPy's gamma takes a scale, the inverse of the rate.
        return _per_weight(random.gamma(shapes, 1.0 / rates), layout, weights.device)

    def expected(self, second_moment: Tensor, layout: Layout) -> Tensor:
        """The precisions' mean (P,) where only E[w²] (P,) of the weights is known, as for a fitted Gaussian.

        The best Gamma for λ then has the conditional's form with E‖w‖² in place of ‖w‖².
        """
        shapes, rates = self._conditional([part.double() for part in _tensors(second_moment, layout)])
        return _per_weight(shapes / rates, layout, second_moment.device)

    def _conditional(self, squares: Sequence[Tensor]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Shape and rate for each tensor, of whose weights the squares are given."""
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


def _tensors(flat: Tensor, layout: Layout) -> list[Tensor]:
    return list(layout.split(flat).values())


def _per_weight(precisions: NDArray[np.float64], layout: Layout, device: torch.device) -> Tensor:
    per_tensor = torch.as_tensor(precisions, dtype=torch.float32, device=device)
    sizes = torch.as_tensor(layout.sizes, dtype=torch.int64, device=device)
    return per_tensor.repeat_interleave(sizes, output_size=sum(layout.sizes))
