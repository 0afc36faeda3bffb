"""A gate that answers."""

from __future__ import annotations

import asyncio
from typing import Any

from dissensus.serve.batching import Batcher
from dissensus.serve.gate_folder import Loaded
from dissensus.serve.traffic import Traffic

__all__ = ["VERSION", "Served"]

VERSION = "1"  # of a gate that has no several


class Served:
    """A gate that answers: its queue, and what it has answered so far.

    Who asks it does so in a ``with`` block: a gate that is replaced meanwhile stays for as long.
    """

    def __init__(self, loaded: Loaded, batcher: Batcher, traffic: Traffic) -> None:
        self.loaded, self.batcher, self.traffic = loaded, batcher, traffic
        self.name, self.gate, self.kind = loaded.name, loaded.gate, loaded.kind
        self.shape: tuple[int, ...] = loaded.gate.preprocessor_.shape
        self.columns = loaded.columns
        self.model, _, version = loaded.name.partition("/")
        self.version = version or VERSION
        self.explaining = 0
        self._asking = 0

    def stats(self) -> dict[str, Any]:
        """What was asked of it, as JSON values."""
        return {"name": self.model, "version": self.version} | self.batcher.stats.to_json()

    async def close(self) -> None:
        """Ends once nobody asks any more; a request may have found it and still be sending its body."""
        while self._asking:
            await asyncio.sleep(0.01)
        await self.batcher.close()

    def __enter__(self) -> Served:
        self._asking += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._asking -= 1
