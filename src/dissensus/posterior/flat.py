"""All parameters of a module as named views into one flat buffer.

A sampler then touches one tensor instead of dozens, and a draw is one copy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

__all__ = ["FlatParameters", "Layout"]


@dataclass(frozen=True)
class Layout:
    """Where each named parameter lies in a flat vector of P numbers."""

    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of elements of each parameter; they sum to P."""
        return tuple(math.prod(shape) for shape in self.shapes)

    def split(self, flat: Tensor) -> dict[str, Tensor]:
        """Named views of a flat tensor (..., P), each of shape (..., *shape)."""
        pieces = flat.split(self.sizes, dim=-1)  # type: ignore[no-untyped-call]
        return {
            name: piece.view(flat.shape[:-1] + shape)
            for name, piece, shape in zip(self.names, pieces, self.shapes, strict=True)
        }


class FlatParameters:
    """Moves a module's parameters into ``values`` (P,) and their gradients into ``gradient`` (P,).

    The module keeps working as before: its parameters are views of the buffer. Given the ``values`` of an
    equal module, it takes over those: both modules then have the same weights, and gradients of their own.
    """

    def __init__(self, module: nn.Module, values: Tensor | None = None) -> None:
        named = [(name, p) for name, p in module.named_parameters() if p.requires_grad]
        self.layout = Layout(tuple(n for n, _ in named), tuple(tuple(p.shape) for _, p in named))
        device = named[0][1].device if named else torch.device("cpu")
        size = sum(self.layout.sizes)
        self.values = torch.empty(size, dtype=torch.float32, device=device) if values is None else values
        self.gradient = torch.zeros_like(self.values)
        pieces, gradients = self.layout.split(self.values), self.layout.split(self.gradient)
        for name, parameter in named:
            if values is None:
                pieces[name].copy_(parameter.detach())
            parameter.data = pieces[name]
            # Backward adds into a gradient that exists already, so the flat buffer fills by itself.
            parameter.grad = gradients[name]
