"""What waits to be scored: small requests and large ones take turns, and so do the large ones."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from dissensus.detector.asking import Decisions

__all__ = ["Piece", "Turns"]


@dataclass(eq=False, slots=True)
class Piece:
    """A request, or a part of one, that is scored in one call."""

    inputs: NDArray[Any]
    answer: asyncio.Future[Decisions]
    arrived: float = field(default_factory=time.monotonic)
    large: bool = False
    """Whether it is a part of a large request."""


class Turns:
    """What waits: small requests in the order they came, and pieces of large ones, which take turns."""

    def __init__(self) -> None:
        self.small: deque[Piece] = deque()
        self.large: deque[deque[Piece]] = deque()
        self.counts = {False: 0, True: 0}
        """Inputs that wait, by whether they are of large requests."""
        self._large_is_next = False

    def __bool__(self) -> bool:
        return bool(self.small or self.large)

    @property
    def count(self) -> int:
        """All inputs that wait."""
        return sum(self.counts.values())

    def put(self, pieces: list[Piece]) -> None:
        """Adds a request: large if it is of several pieces."""
        large = len(pieces) > 1
        for piece in pieces:
            piece.large = large
        if large:
            self.large.append(deque(pieces))
        else:
            self.small.extend(pieces)
        self.counts[large] += sum(len(piece.inputs) for piece in pieces)

    def take(self, most: int, *, large_too: bool) -> list[Piece]:
        """The next batch: of small requests or of large ones, in turn."""
        large = large_too and bool(self.large) and (self._large_is_next or not self.small)
        self._large_is_next = not large
        batch = self._of_large(most) if large else self._of_small(most)
        self.counts[large] -= sum(len(piece.inputs) for piece in batch)
        return batch

    def remove(self, piece: Piece) -> None:
        """Takes a piece out, if it still waits."""
        if piece in self.small:
            self.small.remove(piece)
            self.counts[False] -= len(piece.inputs)
            return
        for request in self.large:
            if piece in request:
                request.remove(piece)
                self.counts[True] -= len(piece.inputs)
                if not request:
                    self.large.remove(request)
                return

    def oldest(self) -> float:
        """When what has waited longest came, of those who are next."""
        firsts = [self.small[0]] if self.small else []
        return min(piece.arrived for piece in [*firsts, *(request[0] for request in self.large)])

    def _of_small(self, most: int) -> list[Piece]:
        batch: list[Piece] = []
        taken = 0
        while self.small and (not batch or _fits(self.small[0], batch[0], most - taken)):
            batch.append(self.small.popleft())
            taken += len(batch[-1].inputs)
        return batch

    def _of_large(self, most: int) -> list[Piece]:
        """A piece of each in its turn; those that are not at their end go to the back."""
        batch: list[Piece] = []
        taken = 0
        while self.large and (not batch or _fits(self.large[0][0], batch[0], most - taken)):
            request = self.large.popleft()
            batch.append(request.popleft())
            taken += len(batch[-1].inputs)
            if request:
                self.large.append(request)
        return batch


def _fits(piece: Piece, first: Piece, room: int) -> bool:
    """Inputs of one batch have one dtype: a byte and a fraction would otherwise become each other."""
    return len(piece.inputs) <= room and piece.inputs.dtype == first.inputs.dtype
