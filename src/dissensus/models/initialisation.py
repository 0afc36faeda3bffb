"""Where a chain starts: weights drawn from a given generator."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import nn

__all__ = ["initialise"]

_CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
_TRANSPOSED = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)
_WEIGHTED = (nn.Linear, *_CONVOLUTIONS, *_TRANSPOSED)


@torch.no_grad()
def initialise(module: nn.Module, generator: torch.Generator) -> None:
    """Draw all weights of ``module`` anew, in place; the same generator state gives the same weights.

    - Linear layers and (transposed) convolutions: weights N(0, 2/fan_in) (He, for ReLU), biases 0. The last
      such layer of the module is its output and has no ReLU after it: N(0,
      1/fan_in) (LeCun). The fan-in of a transposed convolution is what one output pixel sees: inputs · kernel
      / stride.
    - Other layers that own parameters (embeddings, normalisations, recurrent ones, a user's): their
      ``reset_parameters`` is called, with the global generator seeded from ``generator`` and then put back as
      it was.
    - Parameters without a ``reset_parameters`` keep their values: their scale means something only to their
      author. Chains then start alike in those and are told apart by the sampler's noise.

    So networks brought by a user keep the weights they came with until this is called on them. On torch's
    meta device nothing is drawn: there sizes are claims, which may be larger than any memory.
    """
    if any(parameter.is_meta for parameter in module.parameters()):
        return
    layers = list(module.modules())
    output = next((layer for layer in reversed(layers) if isinstance(layer, _WEIGHTED)), None)
    for layer in layers:
        if isinstance(layer, _WEIGHTED):
            _draw_weight(layer, 1.0 if layer is output else 2.0, generator)
        elif next(layer.parameters(recurse=False), None) is not None:
            reset = getattr(layer, "reset_parameters", None) or getattr(layer, "_reset_parameters", None)
            if reset is not None:
                _call_seeded(reset, generator)


def _draw_weight(layer: nn.Module, gain: float, generator: torch.Generator) -> None:
    weight, bias = layer.weight, layer.bias
    assert isinstance(weight, torch.Tensor)
    if isinstance(layer, _TRANSPOSED):  # (in, out/groups, *kernel)
        kernel_per_stride = math.prod(layer.kernel_size) / math.prod(layer.stride)
        fan_in = layer.in_channels // layer.groups * kernel_per_stride
    else:  # (out, in/groups, *kernel)
        fan_in = weight[0].numel()
    noise = torch.randn(weight.shape, generator=generator, device=generator.device)
    weight.copy_(noise * math.sqrt(gain / fan_in))
    if isinstance(bias, torch.Tensor):
        bias.zero_()


def _call_seeded(reset: Callable[[], object], generator: torch.Generator) -> None:
    seed = int(torch.randint(2**62, (), generator=generator, device=generator.device))
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        reset()
