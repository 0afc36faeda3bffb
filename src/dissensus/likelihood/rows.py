"""Rows of the matrix: inputs under one draw after the other, in tiles of one fixed shape."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from dissensus.likelihood.scorer import MakeScorer, ReferenceScorer, TileScorer
from dissensus.likelihood.workspace import on_device, use_weights
from dissensus.models import VAE
from dissensus.models.inputs import unit_scale
from dissensus.posterior import WeightDraws

__all__ = ["Rows"]

# Draws that are begun before the first of them is waited for: a GPU should never be without work.
AHEAD = {"cpu": 0, "cuda": 1}
# Decodings of the tiles that are scored in one call. On a CPU whatever Python does keeps other threads
# waiting, and a tile of a few is little work; of large ones several would keep the heap from closing up.
CALL_ROWS = {"cpu": 64, "cuda": 1}


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
        self.size = tile * max(1, CALL_ROWS.get(self.device.type, 1) // (tile * len(noise)))
        self.scorer, self.reference = scorer(vae, noise), ReferenceScorer(vae, noise)
        self.encoder: int | None = None
        self.codes = torch.empty(0)

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
            self.encoder = encoder
            use_weights(self.vae.encoder, self.draws.encoder_weights(encoder), self.device)
            self.codes = torch.cat(
                [
                    torch.stack(self.vae.encode(self._inputs(self.data[rows])))[:, : rows.stop - rows.start]
                    for rows in _slices(len(self.data), self.tile)
                ],
                dim=1,
            )
        use_weights(self.vae.decoder, self.draws.decoder_weights(draw), self.device)
        self.scorer.load()
        return Row(draw, self.codes, torch.empty(2, len(self.data), dtype=torch.float64, device=self.device))

    def _fill(self, row: Row) -> Iterator[int]:
        """Fills in the row just begun; yields how many inputs were done at once, after all but the last."""
        for rows in _slices(len(self.data), self.size):
            if rows.start:
                yield self.size
            row.found[:, rows] = self._scored(self.scorer, self.data[rows], row.codes[:, rows])

    def _fetched(self, row: Row) -> Tensor:
        """What was found, on the CPU; what the scorer could not tell is scored by the plain one first."""
        found = row.found.cpu()
        if isinstance(self.scorer, ReferenceScorer):
            return found
        lost = (~found[0].isfinite()).nonzero()[:, 0]
        if len(lost):
            use_weights(self.vae.decoder, self.draws.decoder_weights(row.draw), self.device)
            for rows in _slices(len(lost), self.size):
                own = lost[rows]
                x, codes = self.data[own.to(self.data.device)], row.codes[:, own.to(self.device)]
                found[:, own] = self._scored(self.reference, x, codes).cpu()
        return found

    def _scored(self, scorer: TileScorer, x: Tensor, codes: Tensor) -> Tensor:
        """log p̂ and its error (2, n) of inputs that are scored at once."""
        mean, log_std = (_filled(code, self.tile) for code in codes)
        return torch.stack(scorer(self._inputs(x), mean, log_std))[:, : len(x)]

    def _inputs(self, x: Tensor) -> Tensor:
        return unit_scale(on_device(_filled(x, self.tile), self.device))


def _slices(count: int, size: int) -> Iterator[slice]:
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))


def _filled(rows: Tensor, tile: int) -> Tensor:
    """Always whole tiles: the last one is filled up with the first row."""
    missing = -len(rows) % tile
    return torch.cat([rows, rows[:1].expand(missing, *rows.shape[1:])]) if missing else rows
