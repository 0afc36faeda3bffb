"""Gaussian inputs with a fixed or a learned scale."""

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

__all__ = ["Gaussian"]

LARGEST_SCALE = 1e15  # its square is still far from overflowing float32


@dataclass(frozen=True)
class Gaussian(ObservationModel):
    r"""N(μ, σ²) for every dimension; μ is the network's output as it is.

    .. math:: \log p(x) = -\tfrac12 \left(\frac{x - \mu}{\sigma}\right)^2 - \log\sigma - \tfrac12\log 2\pi

    With ``scale=None`` the network gives a second number r per dimension and σ = floor + log(1 + eʳ). The
    floor keeps a density on data with constant dimensions (black image borders) from growing without bound.

    >>> Gaussian(scale=1.0).log_prob(torch.zeros(1, 2), torch.zeros(1, 1, 2))
    tensor([-1.8379], dtype=torch.float64)
    """

    name: ClassVar[str] = "gaussian"

    scale: float | None = 0.1
    """σ in the inputs' units, or None to learn it for each input and dimension."""
    floor: float = 0.01
    """Smallest learned σ; not used when ``scale`` is fixed."""

    def __post_init__(self) -> None:
        if self.scale is not None and not 0 < self.scale < LARGEST_SCALE:
            raise SettingsError(
                f"Gaussian scale={self.scale}: give a positive number below {LARGEST_SCALE:g}, or None."
            )
        if not 0 < self.floor < LARGEST_SCALE:
            raise SettingsError(
                f"Gaussian floor={self.floor}: give a positive number below {LARGEST_SCALE:g}."
            )

    @property
    def parameters_per_dimension(self) -> int:
        """One (μ), or two (μ, r) when the scale is learned."""
        return 1 if self.scale is not None else 2

    def log_prob_terms(self, x: Tensor, parameters: Tensor) -> Tensor:
        """log N(x; μ, σ²): (B, *S)."""
        error = x.to(parameters.dtype) - parameters[:, 0]
        if self.scale is not None:
            constant = -math.log(self.scale) - 0.5 * math.log(2 * math.pi)
            return constant - error.square() * (0.5 / self.scale**2)
        sigma = self._learned_scale(parameters)
        return -0.5 * (error / sigma).square() - sigma.log() - 0.5 * math.log(2 * math.pi)

    def best_log_prob_terms(self, x: Tensor) -> Tensor:
        """At μ = x and the fixed or the smallest scale: −log σ − ½ log 2π: (B, *S)."""
        sigma = self.scale if self.scale is not None else self.floor
        return torch.full_like(x, -math.log(sigma) - 0.5 * math.log(2 * math.pi))

    def mean(self, parameters: Tensor) -> Tensor:
        """μ: (B, *S)."""
        return parameters[:, 0]

    def sample(self, parameters: Tensor, generator: torch.Generator) -> Tensor:
        """μ + σξ, not clipped to any range: (B, *S)."""
        mean = parameters[:, 0]
        sigma = self.scale if self.scale is not None else self._learned_scale(parameters)
        return mean + sigma * torch.randn(
            mean.shape, generator=generator, device=mean.device, dtype=mean.dtype
        )

    def information(self, parameters: Tensor) -> Tensor:
        """As if the mixture were normal too: (M, B, Q, *S) → (B, *S)."""
        mean = parameters[:, :, 0]
        if self.scale is not None:
            return information_of_moments(mean, torch.full_like(mean, self.scale**2))
        return information_of_moments(
            mean, self._learned_scale(parameters.flatten(0, 1)).square().view_as(mean)
        )

    def _learned_scale(self, parameters: Tensor) -> Tensor:
        return self.floor + F.softplus(parameters[:, 1])
