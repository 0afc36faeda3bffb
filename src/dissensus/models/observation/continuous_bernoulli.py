"""Continuous Bernoulli pixels: the Bernoulli cross entropy, normalised on [0, 1]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from dissensus.models.information import information_of_moments
from dissensus.models.observation.base import ObservationModel

__all__ = ["ContinuousBernoulli"]

# Around l = 0 the closed forms are 0/0; below this |l| their series are exact to double precision.
_SERIES_BELOW = 0.25

# Newton steps to the logit whose mean is x. From the start below, five reach double precision.
_NEWTON_STEPS = 5


@dataclass(frozen=True)
class ContinuousBernoulli(ObservationModel):
    r"""The density proportional to :math:`e^{l x}` on [0, 1] (Loaiza-Ganem and Cunningham, 2019).

    .. math:: \log p(x) = x\,l - \log\frac{e^l - 1}{l}, \qquad x \in [0, 1]

    which is the Bernoulli term with logit l plus the log normaliser log C(σ(l)) = log(l / tanh(l/2)).

    >>> ContinuousBernoulli().log_prob(torch.rand(1, 3), torch.zeros(1, 1, 3))  # uniform at l = 0
    tensor([0.], dtype=torch.float64)
    """

    name: ClassVar[str] = "continuous-bernoulli"

    LARGEST_LOGIT: ClassVar[float] = 512.0
    """Where the best likelihood of a 0 or a 1 is taken, as if no network went further: beyond, it still grows
    without bound, but half of the mass lies within a third of one of 256 grey levels."""

    @property
    def parameters_per_dimension(self) -> int:
        """One: the logit."""
        return 1

    def log_prob_terms(self, x: Tensor, parameters: Tensor) -> Tensor:
        """x·l − log((eˡ − 1)/l), finite for every finite l: (B, *S)."""
        logits = parameters[:, 0]
        x = x.to(logits.dtype)
        small, l_small, l_large = _split(logits)
        # (x − ½)l − log(sinh(l/2)/(l/2)), the second term as its Taylor series
        s = l_small.square()
        series = s * (1 / 24 - s * (1 / 2880 - s * (1 / 181440 - s / 9676800)))
        near = (x - 0.5) * l_small - series
        # with a = |l|: −(1−x)·l⁺ − x·l⁻ − log((1 − e⁻ᵃ)/a): no exponential of a positive number
        a = l_large.abs()
        far = -(1 - x) * l_large.relu() - x * (-l_large).relu() - (-torch.expm1(-a) / a).log()
        return torch.where(small, near, far)

    def best_log_prob_terms(self, x: Tensor) -> Tensor:
        r"""At the logit whose mean is x, or at ±:attr:`LARGEST_LOGIT`: (B, *S).

        With m = min(x, 1 − x) the logit is ∓a, and a solves 1/a − 1/(eᵃ − 1) = m. The left side is convex and
        falls, so Newton's method never steps over the solution from its left, and 1/m is a start that takes
        one step to get there.
        """
        m = torch.minimum(x, 1 - x).double()
        a = (1 / m).clamp(max=self.LARGEST_LOGIT)
        for _ in range(_NEWTON_STEPS):
            excess = self.mean(-a.unsqueeze(1)) - m
            a = (a + excess / _variance(a)).clamp(0, self.LARGEST_LOGIT)
        return self.log_prob_terms(m, -a.unsqueeze(1)).to(x.dtype)

    def mean(self, parameters: Tensor) -> Tensor:
        """1/(1 − e⁻ˡ) − 1/l: (B, *S)."""
        small, l_small, l_large = _split(parameters[:, 0])
        s = l_small.square()
        near = 0.5 + l_small * (1 / 12 - s * (1 / 720 - s * (1 / 30240 - s / 1209600)))
        a = l_large.abs()
        below_half = 1 / a - torch.exp(-a) / -torch.expm1(-a)  # the mean at −a
        return torch.where(small, near, torch.where(l_large > 0, 1 - below_half, below_half))

    def sample(self, parameters: Tensor, generator: torch.Generator) -> Tensor:
        """By inversion of the distribution function, values in [0, 1]: (B, *S)."""
        logits = parameters[:, 0]
        u = torch.rand(logits.shape, generator=generator, device=logits.device, dtype=logits.dtype)
        a = logits.abs().clamp(min=1e-6)  # uniform at l = 0, to the same precision
        below_half = torch.log1p(u * torch.expm1(-a)) / -a  # a draw at −a; mirrored for positive l
        return torch.where(logits > 0, 1 - below_half, below_half).clamp(0, 1)

    def information(self, parameters: Tensor) -> Tensor:
        """By the moments, as if each were normal: (M, B, 1, *S) → (B, *S)."""
        logits = parameters[:, :, 0]
        return information_of_moments(self.mean(parameters.flatten(0, 1)).view_as(logits), _variance(logits))


def _variance(logits: Tensor) -> Tensor:
    """The variance of x given logits: 1/l² − 1/(4 sinh²(l/2)), of any shape."""
    small, l_small, l_large = _split(logits)
    s = l_small.square()
    near = 1 / 12 - s * (1 / 240 - s * (1 / 6048 - s / 172800))
    a = l_large.abs()
    e = torch.exp(-a)
    return torch.where(small, near, 1 / a.square() - e / (1 - e).square())


def _split(logits: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Where |l| is small, l with large values replaced by 0, and l with small values replaced by 1.

    Both branches of ``torch.where`` are differentiated, so each must be finite where the other is chosen.
    """
    small = logits.abs() < _SERIES_BELOW
    return small, torch.where(small, logits, 0.0), torch.where(small, 1.0, logits)
