"""Rows of the matrix: inputs under one draw after the other, in tiles of one fixed shape."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from dissensus.likelihood.scorer import MakeScorer, ReferenceScorer, TileScorer
from dissensus.likelihood.tiles import filled, slices
from dissensus.likelihood.workspace import on_device, use_weights
from dissensus.models import VAE
from dissensus.models.inputs import unit_scale
from dissensus.posterior import WeightDraws

__all__ = ["Rows"]

# Draws that are begun before the first of them is waited for: a GPU should never be without work.
AHEAD = {"cpu": 0, "cuda": 1}
# Decodings of the tiles that are scored in one call. On a CPU whatever Python does keeps other threads
# waiting, and so what surrounds the decoding of a tile is done for many of them.
CALL_ROWS = {"cpu": 1024, "cuda": 1}
CALL_NUMBERS = 1 << 20  # of these inputs, so that large images are not made floats all at once


class Row(NamedTuple):
    """What there is of a draw: its inputs' encodings, mean and log σ (2, n, Z), and what was found (2, n)."""

    draw: int
    codes: Tensor
    found: Tensor
    """log p̂ and its error, in float64 and on the device until they are fetched."""


class Rows:
    """The rows of inputs ``data`` (n, *S), n > 0, made by networks that nobody else uses meanwhile."""

    def __init__(
        self, vae: VAE, draws: WeightDraws, data: Tensor, noise: Tensor, *, tile: int, scorer: MakeScorer
    ) -> None:
        self.vae, self.draws, self.data, self.tile, self.device = vae, draws, data, tile, noise.device
        inputs = min(
            CALL_ROWS.get(self.device.type, 1) // len(noise), CALL_NUMBERS // math.prod(vae.input_shape)
        )
        self.size = tile * max(1, inputs // tile)
        self.scorer, self.reference = scorer(vae, noise), ReferenceScorer(vae, noise)
        # Found once: to go through a network's modules takes longer than to copy their weights.
        self.encoder_parameters = dict(vae.encoder.named_parameters())
        self.decoder_parameters = dict(vae.decoder.named_parameters())
        self.encoder: int | None = None
        self.codes = torch.empty(0)
        self.only: tuple[Tensor, ...] | None = None  # what is scored, where one call takes all of it

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
        """Gives the networks a draw's weights; its row, still empty."""
        encoder = int(self.draws.encoder_of[draw])
        if self.encoder != encoder:
            self.encoder, self.only = encoder, None
            use_weights(self.encoder_parameters, self.draws.encoder_weights(encoder), self.device)
            self.codes = torch.cat(
                [
                    torch.stack(self.vae.encode(self._inputs(self.data[rows])))[:, : rows.stop - rows.start]
                    for rows in slices(slice(0, len(self.data)), self.tile)
                ],
                dim=1,
            )
        use_weights(self.decoder_parameters, self.draws.decoder_weights(draw), self.device)
        self.scorer.load()
        return Row(draw, self.codes, torch.empty(2, len(self.data), dtype=torch.float64, device=self.device))

    def _fill(self, row: Row) -> Iterator[int]:
        """Fills in the row just begun; yields how many inputs were done at once, after all but the last."""
        for rows in slices(slice(0, len(self.data)), self.size):
            if rows.start:
                yield self.size
            tiles = self.only or self._tiles(self.data[rows], row.codes[:, rows])
            if len(self.data) <= self.size:
                self.only = tiles
            row.found[:, rows] = _scored(self.scorer, *tiles)[:, : rows.stop - rows.start]

    def _fetched(self, row: Row) -> Tensor:
        """What was found, on the CPU; what the scorer could not tell is scored by the plain one first."""
        found = row.found.cpu()
        if isinstance(self.scorer, ReferenceScorer):
            return found
        lost = (~found[0].isfinite()).nonzero()[:, 0]
        if len(lost):
            use_weights(self.decoder_parameters, self.draws.decoder_weights(row.draw), self.device)
            for rows in slices(slice(0, len(lost)), self.size):
                own = lost[rows]
                x, codes = self.data[own.to(self.data.device)], row.codes[:, own.to(self.device)]
                found[:, own] = _scored(self.reference, *self._tiles(x, codes))[:, : len(x)].cpu()
        return found

    def _tiles(self, x: Tensor, codes: Tensor) -> tuple[Tensor, ...]:
        """Inputs that are scored at once, with their encodings: in whole tiles."""
        mean, log_std = (filled(code, self.tile) for code in codes)
        return self._inputs(x), mean, log_std

    def _inputs(self, x: Tensor) -> Tensor:
        return unit_scale(on_device(filled(x, self.tile), self.device))


def _scored(scorer: TileScorer, x: Tensor, mean: Tensor, log_std: Tensor) -> Tensor:
    """log p̂ and its error (2, n)."""
    return torch.stack(scorer(x, mean, log_std))
