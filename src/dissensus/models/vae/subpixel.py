r"""A convolutional decoder as ordinary convolutions on channels-last tensors, for GPUs with tensor cores.

A transposed convolution with a 4×4 kernel, stride 2 and padding 1 writes every output pixel from 2×2 inputs,
and which four depends only on whether its row and column are even or odd. So it is a 3×3 convolution to four
times the channels, one set for each of the four kinds of pixel, whose outputs are then interleaved. It
multiplies by zeros (5 of 9), but the kernels for ordinary convolutions are faster by more than that.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from dissensus.models.vae.convolutional import ConvolutionalDecoder

__all__ = ["SubpixelDecoder"]

# Of an output row (or column) by whether it is even or odd: the kernel's tap and the input, of those one
# before, at and one after the place, that it meets.
_TAPS = {0: ((1, 1), (3, 0)), 1: ((2, 1), (0, 2))}


class SubpixelDecoder(nn.Module):
    """The function of a :class:`ConvolutionalDecoder`, with weights and activations in ``dtype``.

    Only the first layer stays in float32: it costs little, and to round z would cost more accuracy than all
    the rest.

    Its own buffers never move: a draw's weights are copied into them by :meth:`copy_from`, so that one
    compiled function serves all draws. What overflows ``dtype`` comes out as NaN and never as a number.
    """

    def __init__(self, decoder: ConvolutionalDecoder, dtype: torch.dtype) -> None:
        super().__init__()
        self.dtype = dtype
        self.deepest = _deepest(decoder)
        self.linear = len(_linear(decoder))
        self.convolutions = len(_transposed(decoder))
        device = next(decoder.parameters()).device
        for number, layer in enumerate(_transposed(decoder)):
            self.register_buffer(f"taps{number}", _taps(*layer.weight.shape[:2]).to(device))
        for name, tensor in self._rearranged(decoder).items():
            self.register_buffer(name, tensor.clone())  # some would share the decoder's memory

    @staticmethod
    def fits(decoder: nn.Module) -> bool:
        """Whether a decoder can be written this way: ours, with sides that halve without a remainder."""
        return isinstance(decoder, ConvolutionalDecoder) and all(
            (layer.kernel_size, layer.stride, layer.padding, layer.output_padding)
            == ((4, 4), (2, 2), (1, 1), (0, 0))
            for layer in _transposed(decoder)
        )

    @torch.no_grad()
    def copy_from(self, decoder: ConvolutionalDecoder) -> None:
        """Takes over the weights of a decoder of the same architecture."""
        for name, tensor in self._rearranged(decoder).items():
            self.get_buffer(name).copy_(tensor)

    def forward(self, z: Tensor) -> Tensor:
        """(B, Z) → (B, Q·C, H, W) in float32."""
        h = z
        for number in range(self.linear):
            h = F.linear(h, self.get_buffer(f"dense{number}"), self.get_buffer(f"dense_bias{number}"))
            h = _relu(h.to(self.dtype))
        channels, height, width = self.deepest
        h = h.view(-1, height, width, channels).permute(0, 3, 1, 2)
        for number in range(self.convolutions):
            weight, bias = self.get_buffer(f"kernel{number}"), self.get_buffer(f"kernel_bias{number}")
            h = F.conv2d(h, weight, bias, padding=1)
            if number < self.convolutions - 1:
                h = _interleaved(_relu(h), self.dtype)
            else:
                # ±∞ becomes NaN: 0·∞ is.
                h = _interleaved(h.add(h, alpha=0), torch.float32)
        return h

    @torch.no_grad()
    def _rearranged(self, decoder: ConvolutionalDecoder) -> dict[str, Tensor]:
        """All weights as this form needs them, by the names of the buffers."""
        tensors: dict[str, Tensor] = {}
        channels, height, width = self.deepest
        for number, dense in enumerate(_linear(decoder)):
            weight, bias = dense.weight.detach(), dense.bias.detach()
            if number == self.linear - 1:  # its outputs are the deepest image, here with channels last
                weight = weight.view(channels, height * width, -1).transpose(0, 1).flatten(0, 1)
                bias = bias.view(channels, height * width).T.flatten()
            tensors |= {f"dense{number}": weight, f"dense_bias{number}": bias}
        for number, layer in enumerate(_transposed(decoder)):
            # Number 0 is a zero, where the four pixels of a place do not look.
            kernel = F.pad(layer.weight.flatten(), (1, 0))[self.get_buffer(f"taps{number}")]
            tensors[f"kernel{number}"] = kernel.contiguous(memory_format=torch.channels_last)
            assert layer.bias is not None
            tensors[f"kernel_bias{number}"] = layer.bias.repeat(4)
        first = ("dense0", "dense_bias0")
        return {n: t if n in first else t.to(self.dtype) for n, t in tensors.items()}


def _deepest(decoder: ConvolutionalDecoder) -> tuple[int, int, int]:
    """Channels, height and width of the image that the dense layers give."""
    unflatten = next(layer for layer in decoder.layers if isinstance(layer, nn.Unflatten))
    channels, height, width = unflatten.unflattened_size
    return int(channels), int(height), int(width)


def _linear(decoder: ConvolutionalDecoder) -> list[nn.Linear]:
    return [layer for layer in decoder.layers if isinstance(layer, nn.Linear)]


def _transposed(decoder: ConvolutionalDecoder) -> list[nn.ConvTranspose2d]:
    return [layer for layer in decoder.layers if isinstance(layer, nn.ConvTranspose2d)]


def _relu(h: Tensor) -> Tensor:
    """max(h, 0), but an overflow to −∞ stays visible as 0·∞, NaN, instead of becoming an innocent zero."""
    return F.leaky_relu(h, 0.0)


def _interleaved(h: Tensor, dtype: torch.dtype) -> Tensor:
    """The four kinds of pixel, (B, 2·2·C, H, W), put in their places, (B, C, 2H, 2W), all channels last.

    The kinds come before the channels, so that whole rows of channels are moved.
    """
    batch, channels, height, width = h.shape
    kinds = h.permute(0, 2, 3, 1).reshape(batch, height, width, 2, 2, channels // 4)
    placed = kinds.transpose(2, 3).to(dtype, memory_format=torch.contiguous_format)
    return placed.reshape(batch, 2 * height, 2 * width, channels // 4).permute(0, 3, 1, 2)


def _taps(channels_in: int, channels_out: int) -> Tensor:
    """Where each weight of the 3×3 kernel (4·out, in, 3, 3) is found in the flat transposed one, plus 1."""
    source = torch.arange(1, channels_in * channels_out * 16 + 1).view(channels_in, channels_out, 4, 4)
    taps = torch.zeros(2, 2, channels_out, channels_in, 3, 3, dtype=torch.int64)
    for row, row_taps in _TAPS.items():
        for column, column_taps in _TAPS.items():
            for ky, y in row_taps:
                for kx, x in column_taps:
                    taps[row, column, :, :, y, x] = source[:, :, ky, kx].T
    return taps.reshape(4 * channels_out, channels_in, 3, 3)
