"""The parts of the benchmark by name, each a function of sizes and device."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import torch

from dissensus.bench.speed.accuracy import measure_accuracy
from dissensus.bench.speed.decoding import measure_decoding
from dissensus.bench.speed.growth import measure_growth
from dissensus.bench.speed.rivals import measure_rivals
from dissensus.bench.speed.single import measure_single
from dissensus.bench.speed.sizes import Sizes
from dissensus.bench.speed.startup import measure_startup
from dissensus.bench.speed.training import measure_training
from dissensus.errors import SettingsError

__all__ = ["PARTS", "find_parts"]

Measure: TypeAlias = Callable[[Sizes, torch.device], dict[str, Any]]

PARTS: Mapping[str, Measure] = {
    "training": measure_training,
    "decoding": measure_decoding,
    "single": measure_single,
    "growth": measure_growth,
    "rivals": measure_rivals,
    "startup": measure_startup,
    "accuracy": measure_accuracy,
}
"""In the order they are measured."""

CPU_ONLY = ("single", "rivals", "startup")


def find_parts(wanted: list[str], device: str) -> list[str]:
    """The parts of these names, or all that a device has."""
    unknown = [name for name in wanted if name not in PARTS]
    if unknown:
        raise SettingsError(f"there is no part {unknown[0]!r}; choose one of {', '.join(PARTS)}")
    if device == "cuda" and (misplaced := [name for name in wanted if name in CPU_ONLY]):
        raise SettingsError(f"{misplaced[0]!r} is measured on the CPU: use --device cpu")
    return [
        name for name in PARTS if name in wanted or not (wanted or (device == "cuda" and name in CPU_ONLY))
    ]
