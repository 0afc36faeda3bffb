"""How fast inputs are scored lately, by effort: what batches and waits are judged by."""

from __future__ import annotations

import math
from collections.abc import Mapping

__all__ = ["FEWEST", "Rates"]

# Seconds that a batch should take at most: whoever comes next waits for it. Where scoring is so slow that few
# inputs take as long, more than these would hardly be scored faster.
BATCH_SECONDS = 0.1
FEWEST = 4


class Rates:
    """Inputs a second of one worker, by effort; None is the effort that a gate was saved with.

    ``first`` is a guess at the rate of that one, by which others are judged until they are measured; 0 where
    nobody knows yet.
    """

    def __init__(self, first: float = 0.0) -> None:
        self._lately: dict[str | None, float] = {None: first} if first else {}

    def batch_size(self, effort: str | None, most: int) -> int:
        """Inputs that one worker scores in about :data:`BATCH_SECONDS`, ``most`` at most."""
        rate = self._rate(effort)
        return min(most, max(FEWEST, math.ceil(rate * BATCH_SECONDS))) if rate else most

    def seconds(self, counts: Mapping[str | None, int]) -> float:
        """What scoring so many inputs of each effort takes one worker; 0 where nobody knows yet."""
        return sum(count / rate for effort, count in counts.items() if (rate := self._rate(effort)))

    def measure(self, effort: str | None, count: int, seconds: float) -> None:
        """Takes in a batch."""
        rate, before = count / max(seconds, 1e-6), self._lately.get(effort)
        if before is None:
            self._lately[effort] = rate
        elif count >= FEWEST or rate > before:  # a lone input is slow for its size, and says little
            self._lately[effort] = 0.8 * before + 0.2 * rate

    def _rate(self, effort: str | None) -> float:
        return self._lately.get(effort, self._lately.get(None, 0.0))
