"""The parts of the benchmark by name, each a function of sizes and device."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import torch

from benchmarks.speed.accuracy import measure_accuracy
from benchmarks.speed.beside_anomalib import measure_anomalib
from benchmarks.speed.beside_others import measure_beside_others
from benchmarks.speed.decoding import measure_decoding
from benchmarks.speed.efforts import measure_efforts, measure_sizes
from benchmarks.speed.end_to_end import measure_end_to_end
from benchmarks.speed.growth import measure_growth
from benchmarks.speed.paper_table import measure_table, measure_table_row
from benchmarks.speed.rivals import measure_rivals
from benchmarks.speed.rows import measure_rows
from benchmarks.speed.same_bits import measure_same_bits
from benchmarks.speed.single import measure_single
from benchmarks.speed.sizes import Sizes
from benchmarks.speed.startup import measure_startup
from benchmarks.speed.training import measure_training
from benchmarks.speed.training_bound import measure_training_bound
from benchmarks.speed.trajectory import measure_trajectory
from dissensus.errors import SettingsError

__all__ = ["PARTS", "find_parts"]

Measure: TypeAlias = Callable[[Sizes, torch.device], dict[str, Any]]

PARTS: Mapping[str, Measure] = {
    "training": measure_training,
    "training-bound": measure_training_bound,
    "decoding": measure_decoding,
    "single": measure_single,
    "efforts": measure_efforts,
    "sizes": measure_sizes,
    "anomalib": measure_anomalib,
    "growth": measure_growth,
    "rivals": measure_rivals,
    "rows": measure_rows,
    "startup": measure_startup,
    "beside-others": measure_beside_others,
    "same-bits": measure_same_bits,
    "accuracy": measure_accuracy,
    "trajectory": measure_trajectory,
    "end-to-end": measure_end_to_end,
    "table-row": measure_table_row,
    "whole-table": measure_table,
}
"""In the order they are measured."""

ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    "cpu": ("end-to-end", "table-row", "whole-table"),  # minutes on a GPU, hours on a CPU
    "cuda": (
        "training-bound",
        "single",
        "efforts",
        "sizes",
        "anomalib",
        "rivals",
        "rows",
        "startup",
        "beside-others",
        "same-bits",
    ),
}
"""What is measured on the other device alone."""


def find_parts(wanted: list[str], device: str) -> list[str]:
    """The parts of these names, or all that a device has."""
    unknown = [name for name in wanted if name not in PARTS]
    if unknown:
        raise SettingsError(f"there is no part {unknown[0]!r}; choose one of {', '.join(PARTS)}")
    elsewhere = ELSEWHERE.get(device, ())
    if misplaced := [name for name in wanted if name in elsewhere]:
        other = next(name for name, parts in ELSEWHERE.items() if misplaced[0] not in parts)
        raise SettingsError(f"{misplaced[0]!r} is measured on {other} alone: use --device {other}")
    return [name for name in PARTS if name in wanted or not (wanted or name in elsewhere)]
