"""Where a number stands among all numbers before it, however many these are."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right, insort

import numpy as np
from numpy.typing import NDArray

__all__ = ["Ranked"]

RECENT = 4096  # newcomers are put in their place among so few


class Ranked:
    """Numbers in order, to which single ones are added and among which others are counted.

    They lie in sorted runs, of which each is longer than the next: a full run of newcomers is merged with
    those that are no longer than it. So there are log2(n / RECENT) runs to look into, and a number is moved
    as often.
    """

    def __init__(self, ordered: NDArray[np.float64]) -> None:
        self._runs = [array("d", ordered)] if len(ordered) else []
        self._recent = array("d")
        self._size = len(ordered)

    def __len__(self) -> int:
        return self._size

    def add(self, value: float) -> None:
        """Takes in one number."""
        insort(self._recent, value)
        self._size += 1
        if len(self._recent) == RECENT:
            self._merge()

    def below(self, value: float) -> int:
        """How many are less than the value."""
        return sum(bisect_left(run, value) for run in (*self._runs, self._recent))

    def up_to(self, value: float) -> int:
        """How many are less than the value, or equal to it."""
        return sum(bisect_right(run, value) for run in (*self._runs, self._recent))

    def ordered(self) -> NDArray[np.float64]:
        """All of them, in order."""
        return np.sort(np.concatenate([*self._runs, self._recent]).astype(np.float64))

    def _merge(self) -> None:
        newest, self._recent = self._recent, array("d")
        while self._runs and len(self._runs[-1]) <= len(newest):
            # A stable sort of two sorted runs is a merge.
            newest = array("d", np.sort(np.concatenate([self._runs.pop(), newest]), kind="stable").tobytes())
        self._runs.append(newest)
