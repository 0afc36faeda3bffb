r"""Gated convolutions that see what comes before a pixel, and nothing else (van den Oord et al., 2016).

Two streams run side by side. The *vertical* one at pixel (i, j) has seen rows above i, the *horizontal* one
also the pixels of row i left of j, and is told in every layer what the vertical one knows. With a = tanh and
b = σ of the two halves of a convolution's channels, a layer adds a·b to its stream.

No weight is masked: pictures are shifted and padded so that a kernel lies where it may look.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

__all__ = ["CausalNetwork"]

REACH = 3  # pixels that the first layer sees to each side, and rows above
LAST = 0.1  # how large what an untrained network tells is


class CausalNetwork(nn.Module):
    """Pictures (B, C, H, W) to Q numbers for each pixel (B, Q, H, W), of what comes before it."""

    def __init__(self, channels: int, outputs: int, width: int, dilations: Sequence[int]) -> None:
        super().__init__()
        self.above = nn.Conv2d(channels + 1, width, (REACH, 2 * REACH + 1))
        self.left = nn.Conv2d(channels + 1, width, (1, REACH))
        self.layers = nn.ModuleList(_Layer(width, dilation) for dilation in dilations)
        self.last = nn.Conv2d(2 * width, outputs, 1)

    @torch.no_grad()
    def initialise_(self, generator: torch.Generator) -> None:
        """Draws weights N(0, 1/fan-in), those of the last layer a tenth as large; biases are zero."""
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d) and layer.bias is not None:
                noise = torch.randn(layer.weight.shape, generator=generator, device=generator.device)
                gain = LAST if layer is self.last else 1.0
                layer.weight.copy_(noise * (gain / math.sqrt(layer.weight[0].numel())))
                layer.bias.zero_()

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, H, W) in [0, 1] to (B, Q, H, W)."""
        return self.last(self.seen(x))  # type: ignore[no-any-return]

    def roughly(self, x: Tensor) -> Tensor:
        """The same with layers in bfloat16 and channels last, which a GPU's matrix units take; for training.

        What the last layer makes of them stays in float32: half a grey level is a step of a bfloat16.
        """
        # A recorded step must cast the weights anew: they have moved when it is replayed.
        with torch.autocast(x.device.type, torch.bfloat16, cache_enabled=False):
            seen = self.seen(x.contiguous(memory_format=torch.channels_last))
        return self.last(seen.float()).contiguous()  # type: ignore[no-any-return]

    def seen(self, x: Tensor) -> Tensor:
        """What is known of each pixel before it is seen, (B, 2F, H, W), of which the last layer tells."""
        # The channel of ones says where the picture ends.
        x = torch.cat([2 * x - 1, torch.ones_like(x[:, :1])], dim=1)
        vertical = self.above(functional.pad(x[:, :, :-1], (REACH, REACH, REACH, 0)))
        horizontal = vertical + self.left(functional.pad(x[:, :, :, :-1], (REACH, 0, 0, 0)))
        for layer in self.layers:
            vertical, horizontal = layer(vertical, horizontal)
        # Both signs: what is linear in the pixels nearby comes through as it is.
        return torch.cat([horizontal.relu(), (-horizontal).relu()], dim=1)


class _Layer(nn.Module):
    """One gated layer of both streams, (B, F, H, W) each."""

    def __init__(self, width: int, dilation: int) -> None:
        super().__init__()
        self.dilation = dilation
        self.vertical = nn.Conv2d(width, 2 * width, (2, 3), dilation=dilation)
        self.horizontal = nn.Conv2d(width, 2 * width, (1, 2), dilation=dilation)
        self.across = nn.Conv2d(2 * width, 2 * width, 1)
        self.mixed = nn.Conv2d(width, width, 1)

    def forward(self, vertical: Tensor, horizontal: Tensor) -> tuple[Tensor, Tensor]:
        """Both streams, after the layer."""
        d = self.dilation
        above = self.vertical(functional.pad(vertical, (d, d, d, 0)))
        left = self.horizontal(functional.pad(horizontal, (d, 0, 0, 0))) + self.across(above)
        return vertical + _gated(above), horizontal + self.mixed(_gated(left))


def _gated(x: Tensor) -> Tensor:
    """tanh of one half of the channels times σ of the other: (B, 2F, H, W) to (B, F, H, W)."""
    value, gate = x.chunk(2, dim=1)
    return value.tanh() * gate.sigmoid()
