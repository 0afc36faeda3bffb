"""The kinds of case: each returns "error" or "result", or raises."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.checks.fuzzing.gate_arrays import gate_arrays
from benchmarks.checks.fuzzing.gate_bytes import gate_bytes, gate_bytes_signed
from benchmarks.checks.fuzzing.gate_folder import gate_files, gate_names
from benchmarks.checks.fuzzing.gate_json import gate_values
from benchmarks.checks.fuzzing.input_bombs import input_bombs
from benchmarks.checks.fuzzing.input_files import input_bytes, input_names
from benchmarks.checks.fuzzing.input_sizes import input_sizes
from benchmarks.checks.fuzzing.originals import Originals

__all__ = ["KINDS", "ORDER"]

KINDS: dict[str, tuple[int, Callable[[Originals, np.random.Generator, Path], str]]] = {
    "gate: bytes": (20, gate_bytes),
    "gate: bytes, signed": (16, gate_bytes_signed),
    "gate: values, signed": (16, gate_values),
    "gate: arrays, signed": (12, gate_arrays),
    "gate: files": (4, gate_files),
    "gate: names": (2, gate_names),
    "input: bytes": (20, input_bytes),
    "input: names": (4, input_names),
    "input: sizes": (5, input_sizes),
    "input: bombs": (1, input_bombs),
}
"""Of a hundred cases, how many are of each kind."""
ORDER = [name for name, (weight, _) in KINDS.items() for _ in range(weight)]
