"""Discretised logistic pixels: a logistic density, integrated over each grey level's bin."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from dissensus.errors import SettingsError
from dissensus.models.information import information_of_moments
from dissensus.models.observation.base import ObservationModel

__all__ = ["DiscretisedLogistic"]

# log s = CENTRE + REACH·tanh(r/REACH): at r = 0, s = 0.14; always within e⁻⁷ (a quarter of one of 256 bins,
# narrower gains nothing) and e³ (flat over [0, 1]).
_CENTRE, _REACH = -2.0, 5.0


@dataclass(frozen=True)
class DiscretisedLogistic(ObservationModel):
    r"""Grey levels x = k/(L−1) as bins of a logistic distribution with location μ and scale s.

    .. math:: p(x) = \sigma(b) - \sigma(a), \qquad b, a = \frac{x \pm \tfrac12 (L-1)^{-1} - \mu}{s}

    The first and the last bin take the tails, so that the L probabilities sum to one. The network gives
    (μ, r) per dimension with log s = −2 + 5·tanh(r/5), which keeps s between e⁻⁷ and e³.

    >>> grid = torch.arange(256).reshape(256, 1) / 255
    >>> DiscretisedLogistic().log_prob(grid, torch.zeros(256, 2, 1)).exp().sum().round(decimals=5)
    tensor(1., dtype=torch.float64)
    """

    name: ClassVar[str] = "discretised-logistic"

    levels: int = 256
    """L: the number of grey levels."""

    def __post_init__(self) -> None:
        if not 2 <= self.levels <= 65536:
            raise SettingsError(f"DiscretisedLogistic levels={self.levels}: give 2 to 65536.")

    @property
    def parameters_per_dimension(self) -> int:
        """Two: μ and r."""
        return 2

    def log_prob_terms(self, x: Tensor, parameters: Tensor) -> Tensor:
        """log(σ(b) − σ(a)) = log σ(b) + log σ(−a) + log(1 − e^(a−b)): (B, *S).

        The product form has no difference of nearly equal numbers, however far x is from μ.
        """
        mu, inverse_s = self._location_and_inverse_scale(parameters)
        k = (x.to(mu.dtype) * (self.levels - 1)).round().clamp(0, self.levels - 1)
        centred = (k / (self.levels - 1) - mu) * inverse_s
        half = inverse_s * (0.5 / (self.levels - 1))
        lowest, highest = k == 0, k == self.levels - 1
        below_upper = torch.where(highest, 0.0, F.logsigmoid(centred + half))
        above_lower = torch.where(lowest, 0.0, F.logsigmoid(half - centred))
        width = torch.where(lowest | highest, 0.0, (-torch.expm1(-2 * half)).log())
        return below_upper + above_lower + width

    def best_log_prob_terms(self, x: Tensor) -> Tensor:
        """At μ = x and the smallest s: log tanh(w/4s) for bins of width w = 1/(L−1): (B, *S).

        The first and the last bin reach to infinity, and so may μ: zero.
        """
        k = (x * (self.levels - 1)).round()
        inside = math.log(math.tanh(0.25 / (self.levels - 1) * math.exp(_REACH - _CENTRE)))
        return torch.where((k <= 0) | (k >= self.levels - 1), torch.zeros_like(x), inside)

    def mean(self, parameters: Tensor) -> Tensor:
        """E[k]/(L−1) with E[k] = Σ_{k≥1} P(K ≥ k), one level at a time: (B, *S)."""
        mu, inverse_s = self._location_and_inverse_scale(parameters)
        total = torch.zeros_like(mu)
        for k in range(1, self.levels):
            total += ((mu - (k - 0.5) / (self.levels - 1)) * inverse_s).sigmoid()
        return total / (self.levels - 1)

    def sample(self, parameters: Tensor, generator: torch.Generator) -> Tensor:
        """A logistic draw rounded to the nearest level, values k/(L−1): (B, *S)."""
        mu, inverse_s = self._location_and_inverse_scale(parameters)
        u = torch.rand(mu.shape, generator=generator, device=mu.device, dtype=mu.dtype)
        x = mu + torch.logit(u, eps=1e-7) / inverse_s
        return (x * (self.levels - 1)).round().clamp(0, self.levels - 1) / (self.levels - 1)

    def information(self, parameters: Tensor) -> Tensor:
        """By the moments of the logistic, as if each were normal: (M, B, 2, *S) → (B, *S)."""
        mu, inverse_s = self._location_and_inverse_scale(parameters.flatten(0, 1))
        mean = mu.view(parameters.shape[:2] + mu.shape[1:])
        return information_of_moments(mean, (math.pi**2 / 3) / inverse_s.square().view_as(mean))

    @staticmethod
    def _location_and_inverse_scale(parameters: Tensor) -> tuple[Tensor, Tensor]:
        log_s = _CENTRE + _REACH * torch.tanh(parameters[:, 1] / _REACH)
        return parameters[:, 0], torch.exp(-log_s)
