"""Rows of the matrix: inputs under one draw after the other, in tiles of one fixed shape."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dissensus.likelihood.workspace import Weights, on_device
from dissensus.models import GenerativeModel, Inferred, PlainScorer, Scorer
from dissensus.posterior import WeightDraws
from dissensus.tiles import filled, slices

__all__ = ["Rows"]

# Draws that are begun before the first of them is waited for: a GPU should never be without work.
AHEAD = {"cpu": 0, "cuda": 1}
# Samples of the tiles that are scored in one call. On a CPU whatever Python does keeps other threads
# waiting, and so what surrounds the work on a tile is done for many of them.
CALL_ROWS = {"cpu": 1024, "cuda": 1}
CALL_NUMBERS = 1 << 20  # of these inputs, so that large images are not made floats all at once


class Row(NamedTuple):
    """What there is of a draw: what was inferred of its inputs, and what was found (2, n)."""

    draw: int
    inferred: Inferred
    found: Tensor
    """log p̂ and its error, in float64 and on the device until they are fetched."""


class Rows:
    """The rows of inputs ``data`` (n, *S), n > 0, made by a model that nobody else uses meanwhile."""

    def __init__(
        self,
        model: GenerativeModel,
        draws: WeightDraws,
        data: Tensor,
        noise: Tensor,
        *,
        tile: int,
        scorer: Scorer,
        pooled: bool = False,
    ) -> None:
        self.model, self.draws, self.data, self.tile, self.device = model, draws, data, tile, noise.device
        samples, numbers = max(1, len(noise)), math.prod(model.input_shape)
        inputs = min(CALL_ROWS.get(self.device.type, 1) // samples, CALL_NUMBERS // numbers)
        self.size = tile * max(1, inputs // tile)
        self.scorer, self.plain = scorer, PlainScorer(model, noise, tile)
        self.weights = Weights(model, draws, self.device)
        self.pooled = pooled
        self.inferred: Inferred | None = None
        self.only: tuple[Tensor, Inferred] | None = None  # what is scored, where one call takes all of it

    def scored(self, draws: Iterable[int]) -> Iterator[tuple[int, int, Tensor | None]]:
        """Yields a draw, how many more of its inputs are done, and with the last of them its row (2, n)."""
        count, begun = len(self.data), deque[Row]()
        last = count - (count - 1) // self.size * self.size
        for draw in draws:
            begun.append(row := self._begin(draw))
            for done in self._fill(row):
                yield draw, done, None
            if len(begun) > AHEAD.get(self.device.type, 0):
                yield begun[0].draw, last, self._fetched(begun.popleft())
        for row in begun:
            yield row.draw, last, self._fetched(row)

    def _begin(self, draw: int) -> Row:
        """Gives the model a draw's weights; its row, still empty."""
        if self.inferred is None and self.pooled:
            self.inferred = self.model.pooled([self._infer(int(group[0])) for group in self._groups()])
        elif not self.pooled and (self.weights.load(draw, self.model.inference) or self.inferred is None):
            self.only, self.inferred = None, self._infer(draw)
        self.weights.load(draw)
        self.scorer.load()
        assert self.inferred is not None
        found = torch.empty(2, len(self.data), dtype=torch.float64, device=self.device)
        return Row(draw, self.inferred, found)

    def _groups(self) -> Iterator[NDArray[np.int64]]:
        return self.draws.sharing(self.model.inference)

    def _infer(self, draw: int) -> Inferred:
        """What the inference parts of one draw say of all inputs."""
        self.weights.load(draw, self.model.inference)
        tiles = [
            self.model.infer(self._inputs(self.data[rows]))
            for rows in slices(slice(0, len(self.data)), self.tile)
        ]
        return tuple(torch.cat(parts)[: len(self.data)] for parts in zip(*tiles, strict=True))

    def _fill(self, row: Row) -> Iterator[int]:
        """Fills in the row just begun; yields how many inputs were done at once, after all but the last."""
        for rows in slices(slice(0, len(self.data)), self.size):
            if rows.start:
                yield self.size
            tiles = self.only or self._tiles(self.data[rows], tuple(part[rows] for part in row.inferred))
            if len(self.data) <= self.size:
                self.only = tiles
            row.found[:, rows] = torch.stack(self.scorer(*tiles))[:, : rows.stop - rows.start]

    def _fetched(self, row: Row) -> Tensor:
        """What was found, on the CPU; what the scorer could not tell is scored by the model itself first."""
        found = row.found.cpu()
        if isinstance(self.scorer, PlainScorer):
            return found
        lost = (~found[0].isfinite()).nonzero()[:, 0]
        if len(lost):
            self.weights.load(row.draw)
            for rows in slices(slice(0, len(lost)), self.size):
                own = lost[rows]
                x = self.data[own.to(self.data.device)]
                tiles = self._tiles(x, tuple(part[own.to(self.device)] for part in row.inferred))
                found[:, own] = torch.stack(self.plain(*tiles))[:, : len(x)].cpu()
        return found

    def _tiles(self, x: Tensor, inferred: Inferred) -> tuple[Tensor, Inferred]:
        """Inputs that are scored at once, with what was inferred of them: in whole tiles."""
        return self._inputs(x), tuple(filled(part, self.tile) for part in inferred)

    def _inputs(self, x: Tensor) -> Tensor:
        return self.model.read(on_device(filled(x, self.tile), self.device))
