"""The records of speed: a group a device, ``cpu`` and ``cuda``, and a record a part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from typing import Any

import torch

from benchmarks.devices import gpu_name, hardware
from benchmarks.pieces import Found, Piece
from benchmarks.speed.parts import PARTS
from benchmarks.speed.sizes import Sizes

__all__ = ["pieces"]


def pieces(names: list[str], sizes: Sizes, device: torch.device, *, data: str) -> Iterator[Piece]:
    """One piece a part: its comparisons are the rows, and all else that it measured is told about it.

    On other hardware it is another measurement.
    """
    of = {"hardware": hardware(device), "threads": torch.get_num_threads(), "data": data}
    settings = {**of, **{name: value for name, value in asdict(sizes).items() if name != "quick"}}
    for name in names:
        work = partial(PARTS[name], sizes, device)
        yield Piece(device.type, name, settings, partial(_measured, work), gpu=gpu_name(device))


def _measured(measure: Callable[[], dict[str, Any]], _: Callable[[str], None]) -> Found:
    about = measure()
    return Found(about.pop("comparisons"), about)
