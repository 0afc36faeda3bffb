"""What draws of a model tell of inputs, as a module of which ONNX can be made."""

from __future__ import annotations

import copy
from collections.abc import Collection
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from dissensus.models import LOG_LIKELIHOOD, VAE, Bernoulli, GenerativeModel
from dissensus.models.vae.convolutional import Deconvolution
from dissensus.posterior import WeightDraws, load_draw

__all__ = ["Looking"]


class Looking(nn.Module):
    """Log-likelihoods (N, M) and the wanted statistics (N,), by name, of what a model reads.

    Exact ones where the model has them, and else those of one look (:func:`~dissensus.likelihood.one_look`).
    """

    def __init__(self, model: GenerativeModel, draws: WeightDraws, wanted: Collection[str]) -> None:
        super().__init__()
        self.wanted = {name: model.observed[name] for name in model.observed if name in wanted}
        self.matrix_alone = not model.noise_size and not self.wanted
        self.groups = [group.tolist() for group in draws.sharing(model.inference)]
        self.models = nn.ModuleList()
        for draw in range(len(draws)):
            own = copy.deepcopy(model).cpu().eval()
            load_draw(own, draws, draw)
            self.models.append(_plain(own))

    def forward(self, x: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """The matrix, and the statistics."""
        if self.matrix_alone:
            none = x.new_zeros(1, 0)
            rows = [self._of(n).log_likelihood(x, none, ())[0] for n in range(len(self.models))]
            return torch.stack(rows, dim=1), {}
        seen: dict[int, dict[str, Tensor]] = {}
        for group in self.groups:
            inferred = self._of(group[0]).infer(x)
            seen |= {draw: self._of(draw).observe(x, inferred) for draw in group}
        fields = [seen[draw] for draw in range(len(self.models))]
        found = {}
        for name, how in self.wanted.items():
            each = torch.stack([own[how.field].double() for own in fields])
            if how.fold == "variance":
                each = (each - each.mean(dim=0)).square().flatten(2).sum(dim=2)
            found[name] = each.mean(dim=0)
        return torch.stack([own[LOG_LIKELIHOOD] for own in fields], dim=1), found

    def _of(self, draw: int) -> GenerativeModel:
        own = self.models[draw]
        assert isinstance(own, GenerativeModel)
        return own


@dataclass(frozen=True)
class _Bernoulli(Bernoulli):
    """With logarithms that ONNX has."""

    def best_log_prob_terms(self, x: Tensor) -> Tensor:
        """x log x + (1 − x) log(1 − x)."""
        tiny = torch.finfo(x.dtype).tiny
        return x * torch.log(x.clamp(min=tiny)) + (1 - x) * torch.log((1 - x).clamp(min=tiny))


def _plain(model: GenerativeModel) -> GenerativeModel:
    """The model without what makes it fast in torch alone."""
    if isinstance(model, VAE) and type(model.observation) is Bernoulli:
        model.observation = _Bernoulli()
    for parent in list(model.modules()):
        for name, child in parent.named_children():
            if isinstance(child, Deconvolution):
                setattr(parent, name, _deconvolution(child))
            elif isinstance(child, nn.Unflatten):
                setattr(parent, name, nn.Unflatten(child.dim, child.unflattened_size))
    return model


def _deconvolution(layer: Deconvolution) -> nn.ConvTranspose2d:
    plain = nn.ConvTranspose2d(
        layer.in_channels,
        layer.out_channels,
        layer.kernel_size,  # type: ignore[arg-type]
        layer.stride,  # type: ignore[arg-type]
        layer.padding,  # type: ignore[arg-type]
        layer.output_padding,  # type: ignore[arg-type]
        bias=layer.bias is not None,
    )
    plain.load_state_dict(layer.state_dict())
    return plain
