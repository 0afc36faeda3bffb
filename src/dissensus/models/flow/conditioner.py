r"""A network that tells for each column of a row how it is transformed, from the columns before it alone.

Every column has a place p, and every hidden unit a degree h. A unit of degree h sees columns with p < h and
units of degree ≤ h, and what is told of a column at place p comes from units of degree h ≤ p (Germain et al.,
2015). What the network sees is cut off at ±clip: far outside all it was trained on its answer would be
chance, and so beyond that every column is transformed by one monotone function.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

__all__ = ["Conditioner"]

LAST = 0.1  # how large what an untrained network tells is: the flow starts near the identity


class Conditioner(nn.Module):
    """Rows (B, D) to Q numbers for each of their columns (B, D, Q)."""

    def __init__(self, place: Tensor, last: int, parameters: int, hidden: Sequence[int], clip: float) -> None:
        """``place`` (D,) are the columns' places, of which ``last`` is the highest."""
        super().__init__()
        self.columns, self.parameters_each, self.clip = len(place), parameters, clip
        self.layers = nn.ModuleList(map(_Masked, _masks(place, max(1, last), parameters, hidden)))

    def initialise_(self, generator: torch.Generator) -> None:
        """Draws weights by He's rule for what each unit sees; what is told at first is small."""
        for layer in self.layers:
            assert isinstance(layer, _Masked)
            layer.initialise_(generator, LAST if layer is self.layers[-1] else math.sqrt(2))

    def forward(self, x: Tensor) -> Tensor:
        """(B, D) to (B, D, Q)."""
        x = x.clamp(-self.clip, self.clip)
        *hidden, last = self.layers
        for layer in hidden:
            x = layer(x).relu()
        told: Tensor = last(x)
        return told.view(x.shape[0], self.columns, self.parameters_each)


def _masks(place: Tensor, last: int, parameters: int, hidden: Sequence[int]) -> list[Tensor]:
    """Which units of a layer see which before them (out, in), layer by layer."""
    if place.is_meta:  # nothing but sizes are asked for, and torch takes long to work out more there
        sizes = (len(place), *hidden, len(place) * parameters)
        return [torch.empty(out, into, dtype=torch.bool, device="meta") for into, out in pairwise(sizes)]
    before = place + 1  # to the first layer a column at place p is like a unit of degree p + 1
    masks = []
    for width in hidden:
        # Degrees from the last place down to 1, evenly, so that few units see all columns too.
        degree = last - torch.arange(width) * last // width
        masks.append(degree[:, None] >= before)
        before = degree
    return [*masks, (place[:, None] >= before).repeat_interleave(parameters, 0)]


class _Masked(nn.Module):
    """A linear layer of which only the weights in a mask (out, in) count."""

    mask: Tensor

    def __init__(self, mask: Tensor) -> None:
        super().__init__()
        self.register_buffer("mask", mask)
        self.weight = nn.Parameter(torch.zeros(mask.shape))
        self.bias = nn.Parameter(torch.zeros(len(mask)))

    @torch.no_grad()
    def initialise_(self, generator: torch.Generator, gain: float) -> None:
        noise = torch.randn(self.weight.shape, generator=generator, device=generator.device)
        seen = self.mask.sum(1, keepdim=True).clamp(min=1).to(noise)
        self.weight.copy_(noise * (gain / seen.sqrt()))
        self.bias.zero_()

    def forward(self, x: Tensor) -> Tensor:
        return functional.linear(x, self.mask * self.weight, self.bias)
