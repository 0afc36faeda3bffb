"""Cases with the bytes of a gate's files changed."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.checks.fuzzing.asking import load_and_ask
from benchmarks.checks.fuzzing.byte_accidents import mutated
from benchmarks.checks.fuzzing.gate_copy import copied, signed
from benchmarks.checks.fuzzing.originals import FILES, GATES, Originals

__all__ = ["gate_bytes", "gate_bytes_signed"]


def gate_bytes(originals: Originals, rng: np.random.Generator, work: Path) -> str:
    """Bytes of one file of a gate, as accidents change them."""
    name, file = str(rng.choice(GATES)), str(rng.choice(FILES))
    folder = copied(originals.folder / name, work)
    (folder / file).write_bytes(mutated((folder / file).read_bytes(), rng))
    return load_and_ask(originals, name, folder, same=True)


def gate_bytes_signed(originals: Originals, rng: np.random.Generator, work: Path) -> str:
    """The same with right digests."""
    name, file = str(rng.choice(GATES)), str(rng.choice(FILES))
    folder = copied(originals.folder / name, work)
    (folder / file).write_bytes(mutated((folder / file).read_bytes(), rng))
    return load_and_ask(originals, name, folder, same=not signed(folder))
