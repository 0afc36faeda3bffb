"""How many inputs each API key may send: so many a minute, and a minute's worth at once."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from dissensus.serve.keys import KeyFile
from dissensus.serve.refusals import Overloaded, Refusal

__all__ = ["Quotas"]

MINUTE = 60.0


class Quotas:
    """Counts inputs by the names of keys; without keys, or without a number, there is no quota."""

    def __init__(
        self, keys: KeyFile | None, quota: int | None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._keys, self._quota, self._clock = keys, quota, clock
        self._left: dict[str, tuple[float, float]] = {}  # by name: inputs, and when there were so many

    def take(self, name: str | None, inputs: int) -> None:
        """Counts inputs of a key; a refusal that says when to come back where they are too many."""
        if self._keys is None or name is None:
            return
        quota = self._keys.quotas.get(name, self._quota)
        if quota is None:
            return
        if inputs > quota:
            raise Refusal(
                413, f"{inputs} inputs are more than the key may send a minute ({quota}): send fewer"
            )
        now = self._clock()
        left, since = self._left.get(name, (float(quota), now))
        left = min(float(quota), left + (now - since) * quota / MINUTE)
        if inputs > left:
            self._left[name] = (left, now)
            seconds = math.ceil((inputs - left) * MINUTE / quota)
            raise Overloaded(f"the key may send {quota} inputs a minute, and has sent them", max(1, seconds))
        self._left[name] = (left - inputs, now)
