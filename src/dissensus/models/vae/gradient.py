r"""How far an input would move a decoder's last layer: the length of the gradient of log p(x|z).

The derivative of log p by the weights, its *score*, is zero on average over inputs that the model generates,
and an input that would move them far is none that they were learnt from (Kwon et al., 2020). With h what the
last layer sees and r the derivative of log p by what it gives, the gradient of one input is

.. math:: \frac{\partial \log p}{\partial W} = \sum_{ij} r_{ij}\, h_{ij}^\top

over the places (i, j) that a kernel lies at; r needs a backward pass through no more than what follows.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from dissensus.errors import SettingsError

__all__ = ["gradient_norm", "last_layer"]

LEAST = 1e-30  # of what a logarithm is taken
Layer = nn.Linear | nn.Conv2d | nn.ConvTranspose2d


def last_layer(decoder: nn.Module) -> Layer:
    """The last of a decoder's layers that has weights, if its gradient is known in closed form."""
    own = [layer for layer in decoder.modules() if next(layer.parameters(recurse=False), None) is not None]
    last = own[-1] if own else decoder
    simple = isinstance(last, nn.Linear) or (
        isinstance(last, nn.Conv2d | nn.ConvTranspose2d)
        and last.groups == 1
        and not isinstance(last.padding, str)
        and last.padding_mode == "zeros"
    )
    if not simple:
        raise SettingsError(
            "gradient-norm takes a decoder whose last layer with weights is Linear, Conv2d or "
            f"ConvTranspose2d without groups, and this one's is {type(last).__name__}: leave it out"
        )
    assert isinstance(last, Layer)
    return last


def gradient_norm(
    decoder: nn.Module, log_p: Callable[[Tensor, Tensor], Tensor], x: Tensor, z: Tensor
) -> Tensor:
    """The log squared length (N,) of the gradient of ``log_p(x, z)`` (N,), which calls ``decoder`` once."""
    layer = last_layer(decoder)
    kept: list[Tensor] = []

    def keep(_: nn.Module, given: tuple[Tensor, ...], output: Tensor) -> Tensor:
        leaf = output.detach().clone().requires_grad_()
        kept.extend((given[0].detach(), leaf))
        return leaf.clone()  # what follows may work in place

    handle = layer.register_forward_hook(keep)
    try:
        # What was made in inference mode takes no part in gradients, copies of it do.
        with torch.inference_mode(False), torch.enable_grad():
            likelihood = log_p(x.clone(), z.clone()).sum()
            seen, given = kept
            (slope,) = torch.autograd.grad(likelihood, given)
    finally:
        handle.remove()
    if isinstance(layer, nn.Linear):  # which may be asked about many places of an input: channels last
        seen, slope = (each.reshape(len(x), -1, each.shape[-1]).transpose(1, 2) for each in (seen, slope))
    length = _by_weights(layer, seen, slope)
    if layer.bias is not None:
        length = length + slope.flatten(2).double().sum(2).square().sum(1)
    return length.clamp(min=LEAST).log()


def _by_weights(layer: Layer, seen: Tensor, slope: Tensor) -> Tensor:
    """The squared length (N,) of each input's gradient by the layer's weights."""
    if isinstance(layer, nn.Linear):
        if slope.shape[2] == 1:  # the length of an outer product, which need not be made
            return seen.double().square().flatten(1).sum(1) * slope.double().square().flatten(1).sum(1)
        return (slope @ seen.transpose(1, 2)).double().square().flatten(1).sum(1)
    assert not isinstance(layer.padding, str)
    near, far = (slope, seen) if isinstance(layer, nn.ConvTranspose2d) else (seen, slope)
    pieces = functional.unfold(near, layer.kernel_size, layer.dilation, layer.padding, layer.stride)
    return (pieces @ far.flatten(2).transpose(1, 2)).double().square().flatten(1).sum(1)
