r"""A network run with weights :math:`w = \mu + \sigma \odot \xi`, each input with noise of its own.

Noise shared by a batch leaves a gradient whose variance no batch size reduces. What is added to a layer's
output at μ instead, per input and distributed exactly as the layer's output under its own draw of w:

- Linear on rows (B, I): local reparameterisation (Kingma et al. 2015), the output's own normal distribution,
  :math:`\xi \odot \sqrt{x^2 \sigma_W^{2\top} + \sigma_b^2}` with ξ (B, O).
- Convolutions, transposed ones, and Linear on more than rows: flipout (Wen et al. 2018),
  :math:`r \odot \mathrm{layer}(s \odot x;\, \sigma_W \odot \xi_W)` with random signs r (B, O) and s (B, I).
  A local reparameterisation would treat the positions of one input as independent, although one kernel
  serves them all; the fitted σ comes out too wide.
- All other parameters, layers that share theirs, and layers that one pass uses more than once (a cell that is
  called in a loop): one draw for the batch, because every use must see the same weights.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from dissensus.errors import SettingsError
from dissensus.posterior.flat import FlatParameters

__all__ = ["WeightNoise"]

_CONVOLUTIONS: dict[type[nn.Module], Callable[..., Tensor]] = {
    nn.Conv1d: F.conv1d,
    nn.Conv2d: F.conv2d,
    nn.Conv3d: F.conv3d,
}
_TRANSPOSED: dict[type[nn.Module], Callable[..., Tensor]] = {
    nn.ConvTranspose1d: F.conv_transpose1d,
    nn.ConvTranspose2d: F.conv_transpose2d,
    nn.ConvTranspose3d: F.conv_transpose3d,
}
TINY = 1e-20  # keeps the square root's slope finite where an input is all zeros and there is no bias


class WeightNoise:
    """The noise of one network, whose parameters are the means μ.

    :meth:`begin_` switches the noise on for one forward and backward pass, :meth:`end_` switches it off and
    adds the gradient with respect to log σ to ``gradient``; that with respect to μ is where it always is.
    """

    def __init__(
        self, module: nn.Module, parameters: FlatParameters, log_std: Tensor, gradient: Tensor
    ) -> None:
        self.parameters, self.layout = parameters, parameters.layout
        # Another view of the same memory, so that only this one asks for gradients.
        self.log_std = log_std.detach().requires_grad_()
        self.gradient = gradient
        self.log_std.grad = self.gradient
        names = {id(parameter): name for name, parameter in module.named_parameters()}
        owners = Counter(id(p) for layer in module.modules() for p in layer._parameters.values())
        self.roles: dict[str, dict[str, str]] = {}
        """The parameters' names by role, of each layer whose output gets noise of its own."""
        for path, layer in module.named_modules():
            own = {role: p for role, p in layer._parameters.items() if p is not None}
            plain = all(p.requires_grad and owners[id(p)] == 1 for p in own.values())
            if plain and _has_noisy_output(layer):
                self.roles[path] = {role: names[id(p)] for role, p in own.items()}
                layer.register_forward_hook(self._hook(path))
        self.shared = self._shared()
        """1 for the weights (P,) that are drawn once for a batch, 0 for the others."""
        self.perturbation: Tensor | None = None
        self.mean: Tensor | None = None
        self.active = False
        self.uses: Counter[str] = Counter()

    def watch_(self, forward: Callable[[], object]) -> None:
        """Runs the network once to see which layers it uses more than once: those get shared draws."""
        self.uses.clear()
        with torch.no_grad():
            forward()
        self.roles = {path: own for path, own in self.roles.items() if self.uses[path] < 2}
        self.shared = self._shared()

    def begin_(self, generator: torch.Generator, batch_size: int) -> None:
        """Draws what a batch shares, and lets the layers add the rest."""
        self.active, self.batch_size, self.generator = True, batch_size, generator
        self.uses.clear()
        self.std = self.layout.split(self.log_std.exp())
        if self.shared is not None:
            weights = self.parameters.values
            self.mean = weights.clone()
            self.perturbation = self.log_std.detach().exp().mul_(self.shared).mul_(self._normal(weights))
            weights.add_(self.perturbation)

    def end_(self) -> None:
        """Back to μ; to be called after the backward pass, which needs the weights that were drawn."""
        if self.perturbation is not None and self.mean is not None:
            self.parameters.values.copy_(self.mean)
            # ∂w/∂log σ = σξ
            self.gradient.addcmul_(self.parameters.gradient, self.perturbation)
        self.active, self.std = False, {}

    def _shared(self) -> Tensor | None:
        own = {name for roles in self.roles.values() for name in roles.values()}
        if own == set(self.layout.names):
            return None
        shared = torch.zeros_like(self.gradient)
        for name, piece in self.layout.split(shared).items():
            piece.fill_(name not in own)
        return shared

    def _hook(self, path: str) -> Callable[..., Tensor | None]:
        def add_noise(layer: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> Tensor | None:
            self.uses[path] += 1
            if not self.active or path not in self.roles:
                return None
            if self.uses[path] > 1:
                raise SettingsError(
                    f"the layer {path!r} is used twice for some inputs and once for others, so its noise is "
                    "not known beforehand: use it equally often, or choose another posterior"
                )
            std = {role: self.std[name] for role, name in self.roles[path].items()}
            return output + self._noise(layer, inputs[0], output, std)

        return add_noise

    def _noise(self, layer: nn.Module, x: Tensor, output: Tensor, std: dict[str, Tensor]) -> Tensor:
        """What to add to the output (B, O, ...) of a layer for inputs x (B, I, ...)."""
        if len(x) != self.batch_size:  # its rows are not the inputs: only a shared draw is right
            shared = {role: s * self._normal(s) for role, s in std.items()}
            return _apply(layer, x, shared["weight"], shared.get("bias"))
        bias = std.get("bias")
        if isinstance(layer, nn.Linear) and x.dim() == 2:
            variance = F.linear(x.square(), std["weight"].square(), None if bias is None else bias.square())
            return (variance + TINY).sqrt() * self._normal(output)
        channel = x.dim() - 1 if isinstance(layer, nn.Linear) else 1
        drawn = std["weight"] * self._normal(std["weight"])
        noise = self._signs(output, channel) * _apply(layer, x * self._signs(x, channel), drawn, None)
        if bias is None:
            return noise
        per_input = _per_channel(output, channel)
        shape = [1] * output.dim()
        shape[channel] = -1
        return noise + bias.view(shape) * self._normal(output.new_empty(per_input))

    def _normal(self, like: Tensor) -> Tensor:
        return torch.empty_like(like, requires_grad=False).normal_(generator=self.generator)

    def _signs(self, like: Tensor, channel: int) -> Tensor:
        """Independent ±1 for every input and channel, the same at all positions."""
        signs = torch.empty(_per_channel(like, channel), dtype=like.dtype, device=like.device)
        return signs.bernoulli_(0.5, generator=self.generator).mul_(2).sub_(1)


def _has_noisy_output(layer: nn.Module) -> bool:
    """Whether this is a layer whose noise is known; a subclass may do anything with its weights."""
    kind = _kind(layer)
    if kind in _CONVOLUTIONS or kind in _TRANSPOSED:
        return layer.padding_mode == "zeros"
    return kind is nn.Linear


def _kind(layer: nn.Module) -> type[nn.Module]:
    """The layer's type, or the one of torch's layers that it says it computes the same function as."""
    kind: type[nn.Module] = getattr(layer, "same_function_as", type(layer))
    return kind


def _apply(layer: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """The layer with other weights."""
    kind = _kind(layer)
    if kind is nn.Linear:
        return F.linear(x, weight, bias)
    arguments = {name: getattr(layer, name) for name in ("stride", "padding", "groups", "dilation")}
    if kind in _CONVOLUTIONS:
        return _CONVOLUTIONS[kind](x, weight, bias, **arguments)
    return _TRANSPOSED[kind](x, weight, bias, output_padding=layer.output_padding, **arguments)


def _per_channel(tensor: Tensor, channel: int) -> list[int]:
    return [size if axis in (0, channel) else 1 for axis, size in enumerate(tensor.shape)]
