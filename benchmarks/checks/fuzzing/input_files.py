"""Cases with an input file's bytes changed, or the file under another name."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np

from benchmarks.checks.fuzzing.asking import ask_file
from benchmarks.checks.fuzzing.byte_accidents import mutated
from benchmarks.checks.fuzzing.hostile import NAMES
from benchmarks.checks.fuzzing.originals import Originals

__all__ = ["input_bytes", "input_names"]


def input_bytes(originals: Originals, rng: np.random.Generator, work: Path) -> str:
    """Bytes of an input file, as accidents change them."""
    file = list(originals.inputs)[int(rng.integers(len(originals.inputs)))]
    gate, content = originals.inputs[file]
    (work / file).write_bytes(mutated(content, rng))
    return ask_file(originals, gate, work / file)


def input_names(originals: Originals, rng: np.random.Generator, work: Path) -> str:
    """Good and mutated files under hostile names and under other formats' suffixes."""
    files = list(originals.inputs)
    file, other = (files[int(rng.integers(len(files)))] for _ in range(2))
    gate, content = originals.inputs[file]
    path = work / f"{NAMES[int(rng.integers(len(NAMES)))]}{Path(other).suffix}"
    with suppress(OSError):  # the system itself refuses some names: they are asked for all the same
        path.write_bytes(content if rng.integers(2) else mutated(content, rng))
    return ask_file(originals, gate, path)
