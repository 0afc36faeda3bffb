"""Rows of the matrix for several draws in one call, by ``torch.vmap`` over their stacked weights.

For models of many small operations, whose calls cost more than their arithmetic. The groups of draws are of
one size, the last one filled up, so that a draw's bits do not depend on how many others there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import torch
from torch import Tensor, nn
from torch.func import functional_call

from dissensus.likelihood.workspace import on_device
from dissensus.models import GenerativeModel
from dissensus.posterior import WeightDraws
from dissensus.tiles import filled, slices

__all__ = ["StackedRows"]


class StackedRows:
    """The rows of inputs ``data`` (n, *S), n > 0, under ``model.draws_at_once`` draws at a time."""

    def __init__(
        self, model: GenerativeModel, draws: WeightDraws, data: Tensor, noise: Tensor, *, tile: int
    ) -> None:
        self.model, self.draws, self.data, self.noise, self.tile = model, draws, data, noise, tile
        names = {id(parameter): name for name, parameter in model.named_parameters()}
        self.names = {
            part: {own: names[id(parameter)] for own, parameter in module.named_parameters()}
            for part, module in model.parts().items()
        }
        self.ask = torch.vmap(self._ask, in_dims=(0, None))

    def scored(self, draws: Iterable[int]) -> Iterator[tuple[int, int, Tensor | None]]:
        """Yields a draw, how many more of its inputs are done, and its row (2, n)."""
        waiting = iter(draws)
        while group := list(islice(waiting, self.model.draws_at_once)):
            for draw, row in zip(group, self._rows(group), strict=False):
                yield draw, len(self.data), row

    def _rows(self, group: Sequence[int]) -> Tensor:
        """(G, 2, n), of which the last ones are of no draw where the group is not full."""
        full = [*group, *[group[0]] * (self.model.draws_at_once - len(group))]
        weights = self._stacked(full)
        found = []
        for rows in slices(slice(0, len(self.data)), self.tile):
            x = self.model.read(on_device(filled(self.data[rows], self.tile), self.noise.device))
            found.append(self.ask(weights, x)[:, :, : rows.stop - rows.start].cpu())
        return torch.cat(found, dim=2)

    def _stacked(self, draws: Sequence[int]) -> dict[str, Tensor]:
        """The weights of some draws (G, ...), by the model's own names."""
        stacked = {}
        for part, own in self.draws.parts.items():
            numbers = torch.from_numpy(own.of[list(draws)])
            for name, stack in own.stacks.items():
                stacked[f"model.{self.names[part][name]}"] = on_device(stack[numbers], self.noise.device)
        return stacked

    def _ask(self, weights: dict[str, Tensor], x: Tensor) -> Tensor:
        """log p and its error (2, n) under one draw."""
        return torch.stack(functional_call(_Asked(self.model), weights, (x, self.noise)))


class _Asked(nn.Module):
    """A module whose call is the model's log-likelihood, which is what ``functional_call`` can call."""

    def __init__(self, model: GenerativeModel) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        """log p (n,) and its error (n,)."""
        return self.model.log_likelihood(x, noise, self.model.infer(x))
