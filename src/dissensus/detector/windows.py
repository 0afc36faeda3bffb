"""How many training inputs a fit within memory reads at once, which it remembers where it can be interrupted.

What is left for inputs is measured, and no two processes take the same to the byte. So a fit that goes on
reads as the process did that began it: other windows would be another order, and other bits.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.atomic import atomic_path
from dissensus.errors import SettingsError, not_written
from dissensus.inputs import Stored
from dissensus.memory import in_words

__all__ = ["Budget", "Windows", "remembered"]

WINDOWS = 1 / 2
"""The share that training inputs may take of what a step leaves free; the rest is for the unforeseen."""
BLOCK = 1 << 20  # bytes of a block, so that a disk reads long runs
BLOCKS = 32  # in a window, at least


@dataclass(frozen=True)
class Windows:
    """How training inputs are read."""

    block: int
    """Consecutive inputs that are read together."""
    window: int | None
    """Inputs that a chain learns from before it reads others; None: all of them, which stay in memory."""


@dataclass(frozen=True)
class Budget:
    """How many inputs may be in memory."""

    stored: Stored
    free: int
    chains: int
    batch_size: int

    @property
    def seen_bytes(self) -> int:
        """Of one input as a model reads it: uint8 pixels, or float32 columns."""
        return int(np.prod(self.stored.input_shape)) * (1 if self.stored.pictured else 4)

    @cached_property
    def window(self) -> int:
        """Inputs of a window: whole batches of them."""
        each = self.free * WINDOWS / (2 * self.chains * self.seen_bytes)  # while it learns, the next are read
        return int(each) // self.batch_size * self.batch_size

    def windows(self, count: int) -> Windows:
        """How so many training inputs are read."""
        block = max(1, min(BLOCK // self.seen_bytes, self.window // BLOCKS))
        all_fit = 2 * count * self.seen_bytes <= self.free * WINDOWS  # twice, while they are put together
        return Windows(block, None if all_fit else self.window)

    def check(self, memory: int) -> None:
        """Refuses memory that not even a batch fits into."""
        if self.window >= self.batch_size:
            return
        needed = 2 * self.chains * self.batch_size * self.seen_bytes / WINDOWS + memory - self.free
        raise SettingsError(
            f"memory={in_words(memory)} is too little, for without any window of inputs the process takes "
            f"{in_words(memory - self.free)}: give at least {in_words(1.05 * needed)}, or a smaller "
            "batch_size"
        )


def remembered(file: Path | None, asked: Mapping[str, Any], measured: Callable[[], Windows]) -> Windows:
    """The windows that a process wrote to the file when it was asked for the same, or else new ones."""
    known = None if file is None else _read(file)
    if known is not None and known.get("asked") == asked:
        return Windows(**known["windows"])
    found = measured()
    if file is not None:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with atomic_path(file) as temporary:
                temporary.write_text(json.dumps({"asked": dict(asked), "windows": asdict(found)}), "utf-8")
        except OSError as error:
            raise not_written(file, error) from error
    return found


def _read(file: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
