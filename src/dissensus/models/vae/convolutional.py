"""Convolutional encoder and decoder for images of any size from 8×8 up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from dissensus.errors import SettingsError

__all__ = [
    "ConvolutionalDecoder",
    "ConvolutionalEncoder",
    "Deconvolution",
    "Stage",
    "default_widths",
    "stages_of",
]

_SMALLEST_SIDE = 8
_NARROW = 4  # output channels
_FEW = 2  # transposed convolutions


@dataclass(frozen=True)
class Stage:
    """One resolution step: the sides above and below it, and the kernel that goes from one to the other."""

    above: tuple[int, int]
    below: tuple[int, int]
    kernel: tuple[int, int]
    stride: tuple[int, int]
    output_padding: tuple[int, int]


def _stages(height: int, width: int, count: int | None) -> list[Stage]:
    """Halve (rounding down) each side while it is at least 8; a shorter side waits for the other.

    A halving is a 4×4 kernel with stride 2 (even, so that its transpose treats all pixels alike), a waiting
    side has kernel 3 and stride 1. Without ``count``, down to sides of 4 to 7.
    """
    stages: list[Stage] = []
    above = (height, width)
    while len(stages) < count if count is not None else max(above) >= _SMALLEST_SIDE:
        halved = tuple(side >= _SMALLEST_SIDE for side in above)
        below = tuple(side // 2 if half else side for side, half in zip(above, halved, strict=True))
        stages.append(
            Stage(
                above=above,
                below=(below[0], below[1]),
                kernel=(4 if halved[0] else 3, 4 if halved[1] else 3),
                stride=(1 + halved[0], 1 + halved[1]),
                output_padding=(halved[0] * (above[0] % 2), halved[1] * (above[1] % 2)),
            )
        )
        above = stages[-1].below
    return stages


def stages_of(input_shape: Sequence[int], count: int | None) -> list[Stage]:
    """The halvings of pictures of this shape, the finest first; without a count down to sides of 4 to 7."""
    _, height, width = _checked(input_shape)
    return _stages(height, width, count)


def default_widths(input_shape: Sequence[int]) -> tuple[int, ...]:
    """32 channels after the first halving, twice as many after each further one, at most 128.

    >>> default_widths((1, 28, 28)), default_widths((3, 32, 32))
    ((32, 64), (32, 64, 128))
    """
    _, height, width = _checked(input_shape)
    return tuple(min(32 * 2**i, 128) for i in range(len(_stages(height, width, None))))


def _checked(input_shape: Sequence[int]) -> tuple[int, int, int]:
    if len(input_shape) != 3 or min(input_shape[1:]) < _SMALLEST_SIDE or input_shape[0] < 1:
        raise SettingsError(
            f"input_shape={tuple(input_shape)}: a convolutional network needs (channels, height, width) with "
            f"both sides at least {_SMALLEST_SIDE}; enlarge the images, or flatten them to use the MLP."
        )
    channels, height, width = input_shape
    return channels, height, width


class ConvolutionalEncoder(nn.Module):
    """Strided convolutions, a dense layer, (mean, log σ): (B, C, H, W) → (B, 2Z).

    ``widths`` are the channels after each stage (default: :func:`default_widths`); ``hidden`` is the size of
    the dense layer, 0 for none. ReLU throughout: the cheapest activation, and being positively homogeneous it
    lets the sampled weights' scales trade off between layers without saturating. No normalisation layers.
    ReLU works in place, for what a layer gave nobody needs once it is cut off.
    """

    def __init__(
        self,
        input_shape: Sequence[int],
        latent_size: int,
        *,
        widths: Sequence[int] | None = None,
        hidden: int = 256,
    ) -> None:
        super().__init__()
        channels, height, width = _checked(input_shape)
        self.widths = tuple(widths or default_widths(input_shape))
        self.hidden = hidden
        layers: list[nn.Module] = []
        for stage, wide in zip(_stages(height, width, len(self.widths)), self.widths, strict=True):
            layers += [
                nn.Conv2d(channels, wide, stage.kernel, stage.stride, padding=1),
                nn.ReLU(inplace=True),
            ]
            channels, (height, width) = wide, stage.below
        features = channels * height * width
        layers.append(nn.Flatten())
        if hidden:
            layers += [nn.Linear(features, hidden), nn.ReLU(inplace=True)]
        layers.append(nn.Linear(hidden or features, 2 * latent_size))
        self.layers = nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, H, W) → (B, 2Z)."""
        output: Tensor = self.layers(x)
        return output


class ConvolutionalDecoder(nn.Module):
    """The encoder's mirror image, with transposed convolutions: (B, Z) → (B, Q·C, H, W).

    Takes the same ``widths`` and ``hidden`` as the encoder, in the encoder's order.
    """

    def __init__(
        self,
        input_shape: Sequence[int],
        latent_size: int,
        parameters_per_dimension: int = 1,
        *,
        widths: Sequence[int] | None = None,
        hidden: int = 256,
    ) -> None:
        super().__init__()
        channels, height, width = _checked(input_shape)
        self.widths = tuple(widths or default_widths(input_shape))
        self.hidden = hidden
        stages = _stages(height, width, len(self.widths))
        deepest = (self.widths[-1], *stages[-1].below)
        layers: list[nn.Module] = [nn.Linear(latent_size, hidden), nn.ReLU(inplace=True)] if hidden else []
        layers += [
            nn.Linear(hidden or latent_size, math.prod(deepest)),
            nn.ReLU(inplace=True),
            _Unflatten(deepest, len(stages)),
        ]
        for i in reversed(range(len(stages))):
            stage = stages[i]
            out = self.widths[i - 1] if i else parameters_per_dimension * channels
            layers.append(
                Deconvolution(
                    self.widths[i],
                    out,
                    stage.kernel,
                    stage.stride,
                    padding=1,
                    output_padding=stage.output_padding,
                )
            )
            if i:
                layers.append(nn.ReLU(inplace=True))
        self.layers = nn.Sequential(*layers)

    def forward(self, z: Tensor) -> Tensor:
        """(B, Z) → (B, Q·C, H, W)."""
        output: Tensor = self.layers(z)
        return output


class _Unflatten(nn.Unflatten):
    """On a CPU with channels last: the transposed convolutions after it are up to three times as fast.

    Not where a gradient is wanted of one or two of them: the last one's comes with channels first, and to
    bring it there and back takes a tenth of a training step.
    """

    def __init__(self, shape: tuple[int, int, int], stages: int) -> None:
        super().__init__(1, shape)
        self.stages = stages

    def forward(self, input: Tensor) -> Tensor:
        output = super().forward(input)
        few = self.stages <= _FEW and torch.is_grad_enabled()
        if few or output.device.type != "cpu":
            return output
        return output.contiguous(memory_format=torch.channels_last)


class Deconvolution(nn.ConvTranspose2d):
    """On a CPU with few output channels by a matrix product and a sum.

    Torch's general kernel fills up the channels to the width of a vector register: for a single channel that
    takes three to five times as long. Its plain one rearranges the input first; for a single channel, and
    where no gradient is wanted, that can be left out.
    """

    same_function_as = nn.ConvTranspose2d
    """What it is to those who treat a layer by its type, such as a posterior that adds noise to weights."""

    def forward(self, input: Tensor, output_size: list[int] | None = None) -> Tensor:
        """(B, I, H, W) → (B, O, H', W')."""
        if input.device.type != "cpu" or self.out_channels > _NARROW or output_size is not None:
            return super().forward(input, output_size)
        if self.out_channels == 1 and not torch.is_grad_enabled():
            return self._product_and_sum(input)
        output: Tensor = torch.ops.aten.slow_conv_transpose2d(
            input,
            self.weight,
            self.kernel_size,
            self.bias,
            self.stride,
            self.padding,
            self.output_padding,
            self.dilation,
        )
        return output

    def _product_and_sum(self, input: Tensor) -> Tensor:
        assert not isinstance(self.padding, str)  # the constructor refuses words
        height, width = (
            (side - 1) * stride - 2 * padding + kernel + extra
            for side, stride, padding, kernel, extra in zip(
                input.shape[2:], self.stride, self.padding, self.kernel_size, self.output_padding, strict=True
            )
        )
        # What every pixel of the input contributes to the patch of the output around it (B, H·W, k·k). Row by
        # row: in one product of all rows, what a row gets would depend on its place among them.
        weight = self.weight.flatten(1).expand(len(input), -1, -1)
        patches = torch.bmm(input.flatten(2).transpose(1, 2), weight)
        output = F.fold(
            patches.transpose(1, 2),
            (height, width),
            self.kernel_size,
            padding=self.padding,
            stride=self.stride,
        )
        return output if self.bias is None else output.add_(self.bias[:, None, None])
