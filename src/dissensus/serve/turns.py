"""What waits to be scored: small requests and large ones take turns, and so do the large ones."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dissensus.detector.asking import Decisions

__all__ = ["Piece", "Turns"]

Company: TypeAlias = "tuple[str | None, np.dtype[Any]]"
"""What the inputs of one call have in common: an effort, and a dtype, lest bytes become fractions."""


@dataclass(eq=False, slots=True)
class Piece:
    """A request, or a part of one, that is scored in one call."""

    inputs: NDArray[Any]
    answer: asyncio.Future[Decisions]
    effort: str | None = None
    arrived: float = field(default_factory=time.monotonic)
    large: bool = False
    """Whether it is a part of a large request."""

    @property
    def company(self) -> Company:
        """Pieces of the same may be scored together."""
        return self.effort, self.inputs.dtype


class Turns:
    """What waits: small requests in the order they came, and pieces of large ones, which take turns."""

    def __init__(self) -> None:
        self._small: dict[Company, deque[Piece]] = {}
        self._large: deque[deque[Piece]] = deque()
        self._counts: dict[bool, Counter[str | None]] = {False: Counter(), True: Counter()}
        self._large_is_next = False

    def __bool__(self) -> bool:
        return bool(self._small or self._large)

    @property
    def count(self) -> int:
        """All inputs that wait."""
        return sum(count.total() for count in self._counts.values())

    @property
    def by_effort(self) -> Counter[str | None]:
        """All inputs that wait."""
        return self._counts[False] + self._counts[True]

    def of_kind(self, *, large: bool) -> Counter[str | None]:
        """Inputs that wait, by effort: of large requests or of small ones."""
        return self._counts[large]

    def put(self, pieces: list[Piece]) -> None:
        """Adds a request: large if it is of several pieces."""
        large = len(pieces) > 1
        for piece in pieces:
            piece.large = large
            self._counts[large][piece.effort] += len(piece.inputs)
        if large:
            self._large.append(deque(pieces))
        else:
            self._small.setdefault(pieces[0].company, deque()).append(pieces[0])

    def take(self, most: Callable[[str | None], int], *, large_too: bool) -> list[Piece]:
        """The next batch: of small requests or of large ones, in turn; ``most`` says how large, by effort."""
        large = large_too and bool(self._large) and (self._large_is_next or not self._small)
        self._large_is_next = not large
        batch = self._of_large(most) if large else self._of_small(most)
        for piece in batch:
            self._counts[large][piece.effort] -= len(piece.inputs)
        return batch

    def remove(self, piece: Piece) -> None:
        """Takes a piece out, if it still waits."""
        if piece in self._small.get(piece.company, ()):
            self._small[piece.company].remove(piece)
            self._forget_if_empty(piece.company)
        elif (request := next((each for each in self._large if piece in each), None)) is not None:
            request.remove(piece)
            if not request:
                self._large.remove(request)
        else:
            return
        self._counts[piece.large][piece.effort] -= len(piece.inputs)

    def oldest(self) -> float:
        """When what has waited longest came, of those who are next."""
        return min(queue[0].arrived for queue in (*self._small.values(), *self._large))

    def _of_small(self, most: Callable[[str | None], int]) -> list[Piece]:
        """What came first, with all that may be scored with it: a queue of mixed kinds costs no calls."""
        if not self._small:
            return []
        company = min(self._small, key=lambda each: self._small[each][0].arrived)
        queue, room = self._small[company], most(company[0])
        batch: list[Piece] = []
        while queue and (not batch or len(queue[0].inputs) <= room):
            batch.append(queue.popleft())
            room -= len(batch[-1].inputs)
        self._forget_if_empty(company)
        return batch

    def _of_large(self, most: Callable[[str | None], int]) -> list[Piece]:
        """A piece of each in its turn; those that are not at their end go to the back."""
        company = self._large[0][0].company
        room = most(company[0])
        batch: list[Piece] = []
        while self._large and (not batch or _fits(self._large[0][0], company, room)):
            request = self._large.popleft()
            batch.append(request.popleft())
            room -= len(batch[-1].inputs)
            if request:
                self._large.append(request)
        return batch

    def _forget_if_empty(self, company: Company) -> None:
        if not self._small[company]:
            del self._small[company]


def _fits(piece: Piece, company: Company, room: int) -> bool:
    return piece.company == company and len(piece.inputs) <= room
