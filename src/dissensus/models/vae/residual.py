r"""Residual networks for pictures with several stochastic layers, from coarse to fine.

The latent numbers are in groups, one a resolution: a vector that the coarsest map is made of, and for each of
the finer maps above it a few channels. With ε_l the numbers of group l, all standard normal, the map of layer
l is what the layers above say of it, moved by

.. math:: h_l = R_l\big(u_l(h_{l+1}) + A_l\,(\sigma_l(u_l(h_{l+1})) \odot \varepsilon_l)\big),

u_l an upsampling, R_l a residual block. That is a hierarchical prior p(z_1|z_2)…p(z_L), z_l = μ_l + σ_l ε_l,
written in the noise that it takes: the code of an input is ε, whose law is N(0, I), as in any VAE here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from dissensus.models.vae.convolutional import Deconvolution, Stage, stages_of

__all__ = ["LayeredDecoder", "LayeredEncoder", "group_shapes"]

BRANCH = 0.5  # how much of a block's own answer is added: untrained ones must not drown what they are given


def group_shapes(
    input_shape: Sequence[int], latents: Sequence[int], stages: int
) -> list[tuple[int, int, int]]:
    """The shapes (Z, 1, 1), (c, h, w), … of the groups of latent numbers, the top first.

    >>> group_shapes((3, 32, 32), (32, 4, 2), 3)
    [(32, 1, 1), (4, 8, 8), (2, 16, 16)]
    """
    top, *finer = latents
    sides = [stage.above for stage in reversed(stages_of(input_shape, stages))]
    return [(top, 1, 1), *((count, *side) for count, side in zip(finer, sides, strict=False))]


class LayeredEncoder(nn.Module):
    """(B, C, H, W) to the mean and log σ of all groups side by side, (B, 2Z)."""

    def __init__(self, input_shape: Sequence[int], latents: Sequence[int], widths: Sequence[int]) -> None:
        super().__init__()
        stages, channels = stages_of(input_shape, len(widths)), input_shape[0]
        self.down, self.blocks = nn.ModuleList(), nn.ModuleList()
        for stage, width in zip(stages, widths, strict=True):
            self.down.append(nn.Conv2d(channels, width, stage.kernel, stage.stride, padding=1))
            self.blocks.append(_Block(width))
            channels = width
        self.top = nn.Linear(channels * math.prod(stages[-1].below), 2 * latents[0])
        # Group l lies on the map above the l-th coarsest one.
        self.finer = nn.ModuleList(
            nn.Conv2d(width, 2 * count, 1)
            for count, width in zip(latents[1:], [*reversed(widths[:-1])], strict=False)
        )

    def forward(self, x: Tensor) -> Tensor:
        """(B, 2Z): all means, then all log σ."""
        maps = []
        for down, block in zip(self.down, self.blocks, strict=True):
            x = block(down(x))
            maps.append(x)
        told = [self.top(maps[-1].relu().flatten(1))]
        told += [
            read(own.relu()).flatten(1) for read, own in zip(self.finer, reversed(maps[:-1]), strict=False)
        ]
        means, log_stds = zip(*(each.chunk(2, dim=1) for each in told), strict=True)
        return torch.cat([*means, *log_stds], dim=1)


class LayeredDecoder(nn.Module):
    """The groups of latent numbers side by side (B, Z) to (B, Q·C, H, W)."""

    def __init__(
        self, input_shape: Sequence[int], latents: Sequence[int], widths: Sequence[int], outputs: int
    ) -> None:
        super().__init__()
        stages = stages_of(input_shape, len(widths))
        self.shapes = group_shapes(input_shape, latents, len(widths))
        self.deepest = (widths[-1], *stages[-1].below)
        self.top = nn.Linear(latents[0], math.prod(self.deepest))
        self.block = _Block(widths[-1])
        self.layers = nn.ModuleList()
        for number in reversed(range(1, len(stages))):
            group = len(stages) - number
            count = latents[group] if group < len(latents) else 0
            self.layers.append(_Finer(widths[number], widths[number - 1], stages[number], count))
        self.last = _up(widths[0], outputs, stages[0])

    def forward(self, z: Tensor) -> Tensor:
        """(B, Z) to (B, Q·C, H, W)."""
        top, *finer = torch.split(z, [math.prod(shape) for shape in self.shapes], dim=1)
        x = self.block(self.top(top).reshape(-1, *self.deepest))
        for number, layer in enumerate(self.layers):
            own = finer[number].reshape(-1, *self.shapes[number + 1]) if number < len(finer) else None
            x = layer(x, own)
        output: Tensor = self.last(x.relu())
        return output


class _Finer(nn.Module):
    """One step to a finer map, moved by a group of latent numbers where there is one."""

    def __init__(self, above: int, width: int, stage: Stage, count: int) -> None:
        super().__init__()
        self.up = _up(above, width, stage)
        self.scale = nn.Conv2d(width, count, 1) if count else None
        self.moved = nn.Conv2d(count, width, 1) if count else None
        self.block = _Block(width)

    def forward(self, x: Tensor, own: Tensor | None) -> Tensor:
        """(B, F, h, w) to (B, F', h', w')."""
        x = self.up(x.relu())
        if self.scale is not None and self.moved is not None and own is not None:
            x = x + self.moved(2 * self.scale(x).sigmoid() * own)
        moved: Tensor = self.block(x)
        return moved


class _Block(nn.Module):
    """x + ½ f(x), with two convolutions in f."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(width, width, 3, padding=1)
        self.second = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        """The same shape."""
        return x + BRANCH * self.second(self.first(x.relu()).relu())  # type: ignore[no-any-return]


def _up(inputs: int, outputs: int, stage: Stage) -> Deconvolution:
    return Deconvolution(
        inputs, outputs, stage.kernel, stage.stride, padding=1, output_padding=stage.output_padding
    )
