"""Cases with other values in a gate's JSON."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.checks.fuzzing.asking import load_and_ask
from benchmarks.checks.fuzzing.gate_copy import copied, signed
from benchmarks.checks.fuzzing.hostile import HOSTILE, NAMES
from benchmarks.checks.fuzzing.originals import GATES, Originals

__all__ = ["gate_values"]


def gate_values(originals: Originals, rng: np.random.Generator, work: Path) -> str:
    """Wrong types and wild sizes in a gate's JSON, with right digests."""
    name = str(rng.choice(GATES))
    folder = copied(originals.folder / name, work)
    file = folder / str(rng.choice(["config.json", "config.json", "config.json", "diagnostics.json"]))
    document = json.loads(file.read_text("utf-8"))
    for _ in range(int(rng.integers(1, 4))):
        candidates = list(places(document))
        *path, last = candidates[int(rng.integers(len(candidates)))]
        inside = document
        for key in path:
            inside = inside[key]
        if rng.integers(5) == 0 and isinstance(inside, dict):
            inside[str(rng.choice(NAMES[:9]))] = inside.pop(last)
        else:
            inside[last] = copy.deepcopy(HOSTILE[int(rng.integers(len(HOSTILE)))])
    file.write_text(json.dumps(document), "utf-8")
    signed(folder)
    return load_and_ask(originals, name, folder, same=False)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value in a JSON document."""
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in inner:
        yield from places(below, (*path, key))
